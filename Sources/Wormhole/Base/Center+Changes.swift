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
      throw .refused(error)
    }
  }

  /// Calls a handler, which must not block, after each change notification.
  func observe(
    _ changeName: NotificationName, _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) -> NotificationObservation {
    do {
      return try observe(changeName, on: .inline) { _ in handler() }
    } catch {
      throw .refused(error)
    }
  }

  /// Returns the change notifications of a name, from now on.
  func notifications(of changeName: NotificationName) throws(WormholeError) -> Notifications {
    do {
      return try notifications(named: changeName)
    } catch {
      throw .refused(error)
    }
  }
}

extension WormholeError {
  /// The error of a center: all of its functions throw errors of one type.
  static func refused(_ error: any Error) -> Self {
    .notification(error as? DarwinNotifyError ?? .invalidArgument)
  }
}
