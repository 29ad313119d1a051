// Decides what happens to an event of a sequence.

/// The state of one iteration. Its methods return what to do once the lock is released.
struct NotificationsState: Sendable {
  /// Unsafe, because checking takes a third of the time of an event; the phases ensure that each
  /// continuation is resumed once.
  typealias Continuation = UnsafeContinuation<NotificationEvent?, Never>

  /// What to do without the lock.
  enum Action {
    case nothing
    case resume(Continuation, NotificationEvent?)
  }

  private enum Phase {
    case buffering(NotificationEvent?)
    case waiting(Continuation)
    case finished
  }

  private var phase = Phase.buffering(nil)

  /// Takes an event: passes it to a waiting task, or merges it with the one in the buffer.
  mutating func receive(_ event: NotificationEvent) -> Action {
    switch phase {
    case .buffering(let earlier):
      phase = .buffering(event.merged(with: earlier))
      return .nothing
    case .waiting(let continuation):
      phase = .buffering(nil)
      return .resume(continuation, event)
    case .finished:
      return .nothing
    }
  }

  /// Asks for the next event.
  mutating func next(_ continuation: Continuation) -> Action {
    switch phase {
    case .buffering(let event?):
      phase = .buffering(nil)
      return .resume(continuation, event)
    case .buffering(nil):
      phase = .waiting(continuation)
      return .nothing
    case .waiting:
      preconditionFailure("one iterator was asked for two events at a time")
    case .finished:
      return .resume(continuation, nil)
    }
  }

  /// Ends the iteration.
  mutating func finish() -> Action {
    defer { phase = .finished }
    guard case .waiting(let continuation) = phase else { return .nothing }
    return .resume(continuation, nil)
  }
}

extension NotificationEvent {
  /// The newest event, which also stands for the posts of an earlier one.
  fileprivate func merged(with earlier: NotificationEvent?) -> NotificationEvent {
    guard let earlier else { return self }
    return NotificationEvent(name: name, coalesced: earlier.coalesced + coalesced)
  }
}
