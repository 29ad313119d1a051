// Records the events of handlers, and waits for those that are on their way.

/// The events that a handler has seen.
final class Recorder: Sendable {
  private let seen = Log<NotificationEvent>()
  private let observation: NotificationObservation?

  init() {
    observation = nil
  }

  /// Observes a name, as long as this object lives.
  init(
    _ center: DarwinNotificationCenter, _ name: NotificationName, on delivery: Delivery = .thread
  ) throws {
    observation = try center.observe(name, on: delivery) { [seen] in seen.append($0) }
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
  func post(_ name: NotificationName) throws(DarwinNotifyError)
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
