// Posts and observes change notifications, with the errors of this module.

internal import DarwinNotify

extension DarwinNotificationCenter {
  /// Notifies everybody who observes a name. Without a bus this reaches the processes that share
  /// the user's table; the bus shows it to others once there is one.
  func notify(_ changeName: NotificationName) throws(WormholeError) {
    do throws(DarwinNotifyError) {
      try post(changeName)
    } catch .notConnected {
    } catch {
      throw .notification(error)
    }
  }

  /// Calls a handler, which must not block, after each change notification.
  func observe(
    _ changeName: NotificationName, _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) -> NotificationObservation {
    do throws(DarwinNotifyError) {
      return try observe(changeName, on: .inline) { _ in handler() }
    } catch {
      throw .notification(error)
    }
  }

  /// Returns the change notifications of a name, from now on.
  func notifications(of changeName: NotificationName) throws(WormholeError) -> Notifications {
    do throws(DarwinNotifyError) {
      return try notifications(named: changeName)
    } catch {
      throw .notification(error)
    }
  }
}
