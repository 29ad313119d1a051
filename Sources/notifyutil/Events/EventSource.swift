// What the types of registration have in common.
import DarwinNotify

/// Registers in one way, then reports the number of each token that has an event.
///
/// It is used, and reports, only on the queue of the watch.
protocol EventSource: AnyObject {
  func register(_ key: NotificationName) throws(NotifyError) -> NotifyToken

  /// Ends a registration.
  func end(_ token: NotifyToken)
}
