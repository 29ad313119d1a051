// Guards the state of an iteration.

/// The state that the handler of an iteration shares with its iterator.
final class NotificationsStorage: Sendable {
  private let state = Locked(NotificationsState())

  /// Takes an event.
  func receive(_ event: NotificationEvent) {
    perform(state.withLock { $0.receive(event) })
  }

  /// Returns the next event, or `nil` once the iteration is over.
  func next(isolation: isolated (any Actor)?) async -> NotificationEvent? {
    await withUnsafeContinuation(isolation: isolation) { continuation in
      perform(state.withLock { $0.next(continuation) })
    }
  }

  /// Ends the iteration.
  func finish() {
    perform(state.withLock { $0.finish() })
  }

  private func perform(_ action: NotificationsState.Action) {
    guard case .resume(let continuation, let event) = action else { return }
    continuation.resume(returning: event)
  }
}
