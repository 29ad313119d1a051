// Names notifications.

/// The name of a notification.
///
/// A name has 1 to 511 bytes of UTF-8, customarily in reverse domain order. Names that begin with
/// `self.` stay inside the process; they may have any length. Names are compared by their bytes:
/// two spellings of one character make two names. Add your own as constants:
///
///     extension NotificationName {
///       static let lightChanged: Self = "com.example.light.changed"
///     }
///
/// What is wrong with a name is reported where the name is used. The corresponding C parameter is
/// `name` of `dn_center_post`.
public struct NotificationName: RawRepresentable, Hashable, Sendable {
  /// The text of the name.
  public let rawValue: String

  /// Makes a name from its text.
  ///
  /// - Parameter rawValue: any text; nothing is checked here.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes a name from its text.
  ///
  /// - Parameter text: any text; nothing is checked here.
  public init(_ text: String) {
    self.init(rawValue: text)
  }

  /// Tells whether two names have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.rawValue) == ExactString(right.rawValue)
  }

  /// Tells whether two names have different bytes.
  ///
  /// Spelled out because the standard library compares the raw values of what is
  /// `RawRepresentable`.
  public static func != (left: Self, right: Self) -> Bool {
    !(left == right)
  }

  /// Feeds the bytes of the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(rawValue).hash(into: &hasher)
  }
}

extension NotificationName: ExpressibleByStringLiteral {
  /// Makes a name from a literal.
  public init(stringLiteral value: String) {
    self.init(rawValue: value)
  }
}

extension NotificationName: CustomStringConvertible {
  /// The text of the name.
  public var description: String { rawValue }
}
