// Ties an iteration to its registration.

/// The registration of one iteration, which ends with the last reference.
final class NotificationsRegistration: Sendable {
  private let storage: NotificationsStorage
  private let observation: NotificationObservation

  init(
    of name: NotificationName, from center: DarwinNotificationCenter
  ) throws(DarwinNotifyError) {
    let storage = NotificationsStorage()
    self.storage = storage
    observation = try center.observe(name, on: .direct) { storage.receive($0) }
  }

  /// Returns the next event, or `nil` once the task is cancelled.
  func next(isolation: isolated (any Actor)?) async -> NotificationEvent? {
    await withTaskCancellationHandler {
      await storage.next(isolation: isolation)
    } onCancel: {
      observation.cancel()
      storage.finish()
    }
  }
}
