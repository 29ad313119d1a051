// Posts and observes change notifications, with the errors of this module.

internal import DarwinNotify

extension DarwinNotificationCenter {
  /// Notifies all observers of a name. Without a bus this reaches the processes that share the
  /// user's table; others are notified once there is a bus.
  func notify(_ changeName: NotificationName) throws(WormholeError) {
    do {
      try post(changeName)
    } catch DarwinNotifyError.notConnected {
    } catch {
      throw .notification(error)
    }
  }

  /// Calls a handler, which must not block, after each change notification.
  func observe(
    _ changeName: NotificationName, _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) -> NotificationObservation {
    do {
      return try observe(changeName, on: .inline) { _ in handler() }
    } catch {
      throw .notification(error)
    }
  }
}
