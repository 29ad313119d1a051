// What the tests of remote requests have in common.
import DarwinNotify
import Foundation
import RemoteHandlers
import TestTools
import Testing

/// A request with a response.
struct Search: RemoteRequest {
  static let kind = "org.example.Player.Search"
  typealias Response = [Int]
  var text: String
  var limit: Int?
}

/// A request that is only confirmed.
struct Pause: RemoteRequest {
  static let kind = "org.example.Player.Pause"
}

/// A service and a caller, each with a connection and a bus of its own.
struct RemoteStage {
  static let name = "org.example.Player"

  let bus: PrivateBus
  let handlers = HandlerBus()
  let callers = HandlerBus()
  let serving: DarwinNotificationCenter
  let calling: DarwinNotificationCenter

  init(_ kind: BusKind) throws {
    bus = try PrivateBus(kind)
    serving = try bus.makeCenter()
    calling = try bus.makeCenter()
  }

  /// A service and a caller on a center that reaches nobody else.
  init(isolated center: DarwinNotificationCenter, beside bus: PrivateBus) {
    self.bus = bus
    (serving, calling) = (center, center)
  }

  var player: RemoteDestination { RemoteDestination(Self.name, on: calling) }

  func serve(
    _ requests: [any RemoteRequest.Type] = [Search.self, Pause.self], queueing: Bool = false,
    allowing: (@Sendable (Sender) -> Bool)? = nil
  ) async throws -> RemoteService {
    try await RemoteService(
      name: Self.name, exporting: handlers, requests, queueing: queueing, on: serving,
      allowing: allowing)
  }

  /// Sends a search; returns the hits, or the error.
  func search(
    _ text: String, timeout: Duration? = .seconds(60)
  ) async -> Result<[Int], BusError> {
    do {
      return .success(try await callers.send(Search(text: text), to: player, timeout: timeout))
    } catch let error as BusError {
      return .failure(error)
    } catch {
      Issue.record("an error of another kind: \(error)")
      return .success([])
    }
  }
}

extension Result where Success == [Int], Failure == BusError {
  var hits: [Int]? { try? get() }

  var error: BusError? { if case .failure(let error) = self { error } else { nil } }

  var remoteError: RemoteError? { error?.underlying as? RemoteError }

  /// The error as people read it.
  var sentence: String? { error.map { "\($0)" } }
}
