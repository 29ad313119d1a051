// Connects callers with services of the same process, where there is no bus.

internal import DarwinNotify
internal import DarwinNotifySupport

/// A service of a center that no bus will ever serve: it answers the callers that use the same
/// center. Requests are encoded as for a bus.
final class Loopback: Sendable {
  private struct Place: Hashable {
    let center: ObjectIdentifier
    let name: String
  }

  private struct Registry {
    /// The services of each name; the first one has it.
    var services: [Place: [Loopback]] = [:]
    var watches: [Place: [ObjectIdentifier: AvailabilityWatch]] = [:]

    /// Reports the services of a name to all its followers.
    func note(_ place: Place) {
      let services = services[place] ?? []
      for service in services { service.names.set(service === services.first) }
      for watch in watches[place, default: [:]].values { watch.set(isHere: !services.isEmpty) }
    }

    /// The followers that were notified.
    func followers(of place: Place) -> [() -> Void] {
      let services = (services[place] ?? []).map { service in { service.names.wake() } }
      let watches = watches[place, default: [:]].values.map { watch in { watch.wake() } }
      return services + watches
    }
  }

  private static let registry = Locked(Registry())
  private static let lastID = Locked<UInt64>(0)

  private let name: String
  // Must live as long as it identifies the place.
  private let center: DarwinNotificationCenter
  private let desk: Desk
  private let names: StateFeed<Bool>

  /// Requests a name. The feed learns whether the service has it.
  static func open(
    _ name: String, on center: DarwinNotificationCenter, _ desk: Desk, queueing: Bool,
    names: StateFeed<Bool>
  ) throws -> Loopback {
    let service = Loopback(name, on: center, desk, names)
    let isOpen = change(service.place) { services in
      guard queueing || services.isEmpty else { return false }
      services.append(service)
      return true
    }
    guard isOpen else { throw RemoteError.nameTaken.about(name) }
    return service
  }

  /// The service that has a name on a center.
  static func find(_ name: String, on center: DarwinNotificationCenter) -> Loopback? {
    registry.withLock { $0.services[Place(center: ObjectIdentifier(center), name: name)]?.first }
  }

  /// Reports to a watch whether the process has a service, now and at each change. Returns a
  /// function that ends this.
  static func add(
    _ watch: AvailabilityWatch, of name: String, on center: DarwinNotificationCenter
  ) -> @Sendable () -> Void {
    let place = Place(center: ObjectIdentifier(center), name: name)
    registry.withLock { registry in
      registry.watches[place, default: [:]][ObjectIdentifier(watch)] = watch
      watch.set(isHere: registry.services[place] != nil)
    }
    // The center must live as long as it identifies the place.
    return {
      registry.withLock { registry in
        registry.watches[place]?[ObjectIdentifier(watch)] = nil
        if registry.watches[place]?.isEmpty == true { registry.watches[place] = nil }
      }
      withExtendedLifetime(center) {}
    }
  }

  /// Changes the services of a name and notifies all its followers.
  private static func change(_ place: Place, _ body: (inout [Loopback]) -> Bool) -> Bool {
    let (isChanged, followers) = registry.withLock { registry in
      var services = registry.services[place] ?? []
      guard body(&services) else { return (false, [() -> Void]()) }
      registry.services[place] = services.isEmpty ? nil : services
      registry.note(place)
      return (true, registry.followers(of: place))
    }
    for wake in followers { wake() }
    return isChanged
  }

  private init(
    _ name: String, on center: DarwinNotificationCenter, _ desk: Desk, _ names: StateFeed<Bool>
  ) {
    self.name = name
    self.center = center
    self.desk = desk
    self.names = names
  }

  private var place: Place { Place(center: ObjectIdentifier(center), name: name) }

  /// Whether this service has the name.
  var hasName: Bool { Self.registry.withLock { $0.services[place]?.first === self } }

  /// Gives up the name.
  func close() {
    _ = Self.change(place) { services in
      services.removeAll { $0 === self }
      return true
    }
  }

  /// Asks the service, which may throw a ``Refusal``. Cancelling the task cancels the handler.
  func ask(_ kind: String, _ arguments: PropertyList) async throws -> PropertyList {
    let promise = Promise<Result<PropertyList, any Error>>()
    let inquiry = Inquiry(
      id: Self.lastID.withLock { last in
        last += 1
        return last
      },
      kind: kind, arguments: arguments, caller: .current,
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
