// The version of the library.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// The version of the library, such as `1.0.0`.
  ///
  /// The corresponding C function is `dn_version`.
  public static let libraryVersion = String(cString: dn_version())
}
