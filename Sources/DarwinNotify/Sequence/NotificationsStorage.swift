// Keeps the event of an iteration until it is asked for.

internal import DarwinNotifySupport

/// What the handler of an iteration shares with its iterator.
final class NotificationsStorage: Sendable {
  private struct State {
    /// What has come since the iterator asked last.
    var event: NotificationEvent?
    var isFinished = false
  }

  private let state = Awaited(State())

  /// Takes an event, which also stands for one that has not been asked for.
  func receive(_ event: NotificationEvent) {
    state.change { state in
      if !state.isFinished { state.event = event.merged(with: state.event) }
    }
  }

  /// Returns the next event, or `nil` once the iteration is over.
  func next(isolation: isolated (any Actor)?) async -> NotificationEvent? {
    await state.wait(isolation: isolation) { $0.event != nil || $0.isFinished }
    return state.change { $0.event.take() }
  }

  /// Ends the iteration.
  func finish() {
    state.change { $0 = State(isFinished: true) }
  }
}

extension NotificationEvent {
  /// The newest event, which also stands for the posts of an earlier one.
  fileprivate func merged(with earlier: NotificationEvent?) -> NotificationEvent {
    guard let earlier else { return self }
    return NotificationEvent(name: name, coalesced: earlier.coalesced + coalesced)
  }
}
