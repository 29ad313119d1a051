// Rings the bells of files that have changed.

internal import DarwinNotify

extension DarwinNotificationCenter {
  /// Tells all who listen to look. Without a bus it is told those in this process now, the others
  /// once there is one.
  func ring(_ bell: NotificationName) throws(WormholeError) {
    do throws(DarwinNotifyError) {
      try post(bell)
    } catch .notConnected {
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
