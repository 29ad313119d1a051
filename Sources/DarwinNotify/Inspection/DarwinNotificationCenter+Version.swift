// The version of the library.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// The version of the library, such as `1.0.0`.
  ///
  /// The corresponding C constants are `DN_VERSION_MAJOR`, `DN_VERSION_MINOR`, `DN_VERSION_PATCH`.
  public static let libraryVersion =
    "\(DN_VERSION_MAJOR).\(DN_VERSION_MINOR).\(DN_VERSION_PATCH)"
}
