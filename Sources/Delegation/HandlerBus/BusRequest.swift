// The requests of a bus.

/// A request with its type of response.
///
///     struct ShareText: BusRequest {
///       typealias Response = String
///       static let kind = "share.text"
///       var text: String
///     }
///
/// The type of the request selects its handlers. A request to a platform declares `typealias
/// Destination = Platform`.
public protocol BusRequest: Sendable {
  /// The type of the response; `Void` by default.
  associatedtype Response: Sendable = Void

  /// The type of the destination; ``Endpoint`` by default.
  associatedtype Destination: BusDestination = Endpoint

  /// The name of the type in errors and traces; by default its name in Swift.
  static var kind: String { get }
}

extension BusRequest {
  /// The full name of the type.
  public static var kind: String { String(reflecting: Self.self) }
}
