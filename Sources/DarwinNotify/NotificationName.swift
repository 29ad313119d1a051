// Names notifications.
internal import CDarwinNotify

/// The name of a notification.
///
/// A name has 1 to 511 bytes of UTF-8, customarily in reverse domain order. Names that begin with
/// `self.` stay inside the process and may have any length. Names are compared byte by byte: two
/// encodings of one character make two names. Add your own as constants:
///
///     extension NotificationName {
///       static let lightChanged: Self = "com.example.light.changed"
///     }
///
/// An invalid name is reported where it is used. The corresponding C parameter is `name` of
/// `dn_center_post`.
public struct NotificationName: RawRepresentable, Hashable, Sendable {
  /// The text of the name.
  public let rawValue: String

  /// Creates a name from its text.
  ///
  /// - Parameter rawValue: any text; nothing is checked here.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Creates a name from its text.
  ///
  /// - Parameter text: any text; nothing is checked here.
  public init(_ text: String) {
    self.init(rawValue: text)
  }

  /// Returns whether two names have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.rawValue) == ExactString(right.rawValue)
  }

  /// Returns whether two names have different bytes.
  ///
  /// Needed because the standard library compares the raw values of `RawRepresentable` types.
  public static func != (left: Self, right: Self) -> Bool {
    !(left == right)
  }

  /// Feeds the bytes of the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(rawValue).hash(into: &hasher)
  }
}

extension NotificationName: ExpressibleByStringLiteral {
  /// Creates a name from a literal.
  public init(stringLiteral value: String) {
    self.init(rawValue: value)
  }
}

extension NotificationName: CustomStringConvertible {
  /// The text of the name.
  public var description: String { rawValue }
}

extension NotificationName {
  /// Whether this user may post the name and set its state: `dn_may_post`. Posts of a malformed
  /// name fail by themselves.
  package var mayBePosted: Bool { dn_may_post(rawValue) != 0 }
}
