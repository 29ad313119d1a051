// Decides what happens to an event of a sequence.

/// The state of one iteration. Its methods say what to do once the lock is released.
struct NotificationsState: Sendable {
  /// Unchecked, because the check takes a third of the time of an event; the phases see to it that
  /// each is resumed once.
  typealias Continuation = UnsafeContinuation<NotificationEvent?, Never>

  /// What is to be done without the lock.
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

  /// An event has arrived: it goes to who waits for it, or is merged with the one in the buffer.
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

  /// The next event is asked for.
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

  /// The iteration is over.
  mutating func finish() -> Action {
    defer { phase = .finished }
    guard case .waiting(let continuation) = phase else { return .nothing }
    return .resume(continuation, nil)
  }
}

extension NotificationEvent {
  /// The newest event, which stands for the posts of an earlier one too.
  fileprivate func merged(with earlier: NotificationEvent?) -> NotificationEvent {
    guard let earlier else { return self }
    return NotificationEvent(name: name, coalesced: earlier.coalesced + coalesced)
  }
}
