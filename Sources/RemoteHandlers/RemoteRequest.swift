// Requests that can leave the process.

public import Delegation

/// A request that a handler in another process can answer.
///
///     struct Search: RemoteRequest {
///       static let kind = "org.example.Player.Search"
///       typealias Response = [Int]
///       var text: String
///     }
///
/// Its `BusRequest.kind` is a D-Bus interface and the name of a method: at least three
/// words of letters, digits and underscores, with dots between them, at most 255 bytes. Its
/// properties travel by name, so fields can be added. Handlers are registered as for every other
/// request.
public protocol RemoteRequest: BusRequest, Codable where Response: Codable {}

/// The response of a request that is only confirmed.
public struct NoResponse: Codable, Hashable, Sendable {
  /// Creates the response.
  public init() {}
}
