// Describes what can be asked of a bus.

/// A request, and what answers it.
///
///     struct ShareText: BusRequest {
///       typealias Response = String
///       static let kind = "share.text"
///       var text: String
///     }
///
/// Handlers are found by the type. A request to a platform says `typealias Destination = Platform`.
public protocol BusRequest: Sendable {
  /// What a handler answers with; nothing, if it is not said.
  associatedtype Response: Sendable = Void

  /// What the request is sent to; an ``Endpoint``, if it is not said.
  associatedtype Destination: BusDestination = Endpoint

  /// The name of the type in errors and traces; that of the type in Swift, if it is not said.
  static var kind: String { get }
}

extension BusRequest {
  /// The full name of the type.
  public static var kind: String { String(reflecting: Self.self) }
}
