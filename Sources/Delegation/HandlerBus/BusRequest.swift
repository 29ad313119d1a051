// The requests of a bus with their destinations.

/// A request with its type of response.
///
///     struct ShareText: BusRequest {
///       typealias Response = String
///       static let kind = "share.text"
///       var text: String
///     }
///
/// The type of the request selects its handlers. A request to a platform declares `typealias
/// Destination = BusPlatform`.
public protocol BusRequest: Sendable {
  /// The type of the response; `Void` by default.
  associatedtype Response: Sendable = Void

  /// The type of the errors that its handlers throw for the caller, who gets them as they are;
  /// `Never` by default. All other errors are the ``BusError/underlying`` error of a ``BusError``.
  associatedtype Failure: Error = Never

  /// The type of the destination; ``BusEndpoint`` by default.
  associatedtype Destination: BusDestination = BusEndpoint

  /// The name of the type in errors and traces; by default its name in Swift.
  static var kind: String { get }

  /// The type of the response. A protocol that refines this one gives it another default here.
  static var responseType: Response.Type { get }
}

extension BusRequest {
  /// The full name of the type.
  public static var kind: String { String(reflecting: Self.self) }

  /// The type of the response.
  public static var responseType: Response.Type { Response.self }
}

/// A name from an open set, to which anybody can add constants in an extension.
///
///     extension BusEndpoint {
///       enum Chat { static let friend: BusEndpoint = "org.example.chat.friend" }
///     }
public protocol BusDestination: RawRepresentable<String>, Hashable, Sendable,
  ExpressibleByStringLiteral, CustomStringConvertible
{
  /// Creates a name from any text, customarily in reverse domain order.
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
public struct BusEndpoint: BusDestination, Codable {
  /// The text of the name.
  public let rawValue: String

  /// Creates a name from any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}

/// A service that one can sign in to or open, such as a messenger.
public struct BusPlatform: BusDestination, Codable {
  /// The text of the name.
  public let rawValue: String

  /// Creates a name from any text.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
