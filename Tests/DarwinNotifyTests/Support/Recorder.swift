// Records the events of handlers.
import DarwinNotify

/// The events that a handler has seen.
final class Recorder: Sendable {
  private let seen = Locked<[NotificationEvent]>([])

  func record(_ event: NotificationEvent) {
    seen.withLock { $0.append(event) }
  }

  var events: [NotificationEvent] { seen.withLock { $0 } }

  /// How many posts the events stand for.
  var posts: Int { seen.withLock { $0.reduce(0) { $0 + $1.coalesced } } }
}
