// Rings the bells of files that have changed.

internal import DarwinNotify

extension DarwinNotificationCenter {
  /// Tells all who listen to look. Without a bus it is told those in this process now, the others
  /// once there is one.
  func ring(_ bell: NotificationName) throws(WormholeError) {
    do throws(DarwinNotifyError) {
      try postMerging(bell)
    } catch .notConnected {
    } catch {
      throw .notification(error)
    }
  }

  /// Calls a handler, which must not block for long, after each ring of a bell.
  func observe(
    _ bell: NotificationName, _ handler: @escaping @Sendable () -> Void
  ) throws(WormholeError) -> Observation {
    do throws(DarwinNotifyError) {
      return try observe(bell, on: .direct) { _ in handler() }
    } catch {
      throw .notification(error)
    }
  }

  /// Returns the rings of a bell, from now on.
  func rings(of bell: NotificationName) throws(WormholeError) -> Notifications {
    do throws(DarwinNotifyError) {
      return try notifications(named: bell)
    } catch {
      throw .notification(error)
    }
  }
}
