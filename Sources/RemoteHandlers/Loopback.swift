// Connects callers with services of the same process, where there is no bus.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Glibc

/// A service of a center that no bus will ever serve: it answers the callers that use the same
/// center. Requests are encoded as for a bus.
final class Loopback: Sendable {
  private struct Place: Hashable {
    let center: ObjectIdentifier
    let name: String
  }

  /// The services of each name; the first one has it.
  private static let services = Locked<[Place: [Loopback]]>([:])
  private static let lastID = Locked<UInt64>(0)

  private let name: String
  // Must live as long as it identifies the place.
  private let center: DarwinNotificationCenter
  private let desk: Desk

  /// Requests a name.
  static func open(
    _ name: String, on center: DarwinNotificationCenter, _ desk: Desk, queueing: Bool
  ) throws -> Loopback {
    let service = Loopback(name, on: center, desk)
    let isOpen = services.withLock { services in
      guard queueing || services[service.place] == nil else { return false }
      services[service.place, default: []].append(service)
      return true
    }
    guard isOpen else { throw RemoteError.nameTaken.about(name) }
    return service
  }

  /// The service that has a name on a center.
  static func find(_ name: String, on center: DarwinNotificationCenter) -> Loopback? {
    services.withLock { $0[Place(center: ObjectIdentifier(center), name: name)]?.first }
  }

  private init(_ name: String, on center: DarwinNotificationCenter, _ desk: Desk) {
    self.name = name
    self.center = center
    self.desk = desk
  }

  private var place: Place { Place(center: ObjectIdentifier(center), name: name) }

  /// Whether this service has the name.
  var hasName: Bool { Self.services.withLock { $0[place]?.first === self } }

  /// Gives up the name.
  func close() {
    let rest = Self.services.withLock { services in
      services[place]?.removeAll { $0 === self }
      if services[place]?.isEmpty == true { services[place] = nil }
      return services[place]
    }
    withExtendedLifetime(rest) {}
  }

  /// Asks the service, which may throw a ``Refusal``. Cancelling the task cancels the handler.
  func ask(_ kind: String, _ arguments: PropertyList) async throws -> PropertyList {
    let promise = Promise<Result<PropertyList, any Error>>()
    let inquiry = Inquiry(
      id: Self.lastID.withLock { last in
        last += 1
        return last
      },
      kind: kind, arguments: arguments, caller: .thisProcess,
      answer: { promise.provide(.success($0)) },
      refuse: { promise.provide(.failure($0)) })
    if desk.exports(kind) {
      desk.begin(inquiry)
    } else {
      inquiry.refuse(Refusal(StandardError.unknownMethod, ""))
    }
    return try await withTaskCancellationHandler {
      try await promise.value().get()
    } onCancel: {
      promise.provide(.failure(CancellationError()))
      desk.cancel(inquiry.id)
    }
  }
}

extension RemoteCaller {
  /// The caller of a request without a bus.
  fileprivate static let thisProcess = RemoteCaller(
    name: ":loopback", user: geteuid(), process: getpid())
}
