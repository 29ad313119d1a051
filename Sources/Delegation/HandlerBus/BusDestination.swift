// The destinations of requests.

/// A name from an open set, to which anybody can add constants in an extension.
///
///     extension Endpoint {
///       enum Chat { static let friend: Endpoint = "org.example.chat.friend" }
///     }
public protocol BusDestination: RawRepresentable<String>, Hashable, Sendable,
  ExpressibleByStringLiteral, CustomStringConvertible
{
  /// Creates a name from its text, customarily in reverse domain order.
  ///
  /// - Parameter rawValue: any text.
  init(rawValue: String)
}

extension BusDestination {
  /// Creates a name from a literal.
  public init(stringLiteral value: String) {
    self.init(rawValue: value)
  }

  /// The text of the name.
  public var description: String { rawValue }
}

/// A place that content can be sent to, such as a chat with a friend.
public struct Endpoint: BusDestination, Codable {
  /// The text of the name.
  public let rawValue: String

  /// Creates a name from its text.
  ///
  /// - Parameter rawValue: any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// A service that one can sign in to or open, such as a messenger.
public struct Platform: BusDestination, Codable {
  /// The text of the name.
  public let rawValue: String

  /// Creates a name from its text.
  ///
  /// - Parameter rawValue: any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
