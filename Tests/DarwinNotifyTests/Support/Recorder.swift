// Records the events of handlers, and waits for expected events.

/// The events that a handler has seen.
final class Recorder: Sendable {
  private let seen = Log<NotificationEvent>()
  private let observation: NotificationObservation?

  init() {
    observation = nil
  }

  /// Observes a name, as long as this object lives. An event is recorded after the body has run.
  init(
    _ center: DarwinNotificationCenter, _ name: NotificationName, on delivery: Delivery = .thread,
    _ body: @escaping @Sendable (NotificationEvent) -> Void = { _ in }
  ) throws {
    observation = try center.observe(name, on: delivery) { [seen] event in
      body(event)
      seen.append(event)
    }
  }

  func record(_ event: NotificationEvent) {
    seen.append(event)
  }

  var events: [NotificationEvent] { seen.entries }

  /// How many posts the events stand for.
  var posts: Int { events.reduce(0) { $0 + $1.coalesced } }
}

/// An object that posts.
protocol Poster {
  func post(_ name: NotificationName) throws
}

extension DarwinNotificationCenter: Poster {}

/// Returns when everything that a poster posted before has been passed to the handlers that run at
/// the same place: a fence from the same poster follows behind it.
func drain(
  _ center: DarwinNotificationCenter, behind poster: any Poster, on delivery: Delivery
) async throws {
  let passed = try Recorder(center, "com.example.fence", on: delivery)
  try poster.post("com.example.fence")
  await eventually("the fence did not arrive") { passed.posts > 0 }
}

/// A center that observes and one that posts, as two programs have them.
struct Stage {
  let bus: PrivateBus
  let center: DarwinNotificationCenter
  let poster: DarwinNotificationCenter

  init(_ kind: BusKind = .usual) throws {
    bus = try PrivateBus(kind)
    (center, poster) = (try bus.makeCenter(), try bus.makeCenter())
  }

  /// Returns when everything posted before has been passed to the handlers of a place.
  func drain(on delivery: Delivery = .thread) async throws {
    try await DarwinNotifyTests.drain(center, behind: poster, on: delivery)
  }
}
