// Posts Darwin notifications again inside the process.

public import DarwinNotify
public import Foundation

extension DarwinNotificationCenter {
  /// Posts a notification again through a notification center of Foundation, whenever it comes.
  ///
  /// Its observers are called once for each post, however often and by whom the name is forwarded
  /// from this center to that one. The `userInfo` has the number of posts that the notification
  /// stands for under `"coalesced"`: 1, unless more came than the center could deliver one by one.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - target: the center to post through.
  ///   - notification: the name to post; by default the same text.
  ///   - delivery: where the observers of Foundation are called. Who joins others has it where the
  ///     first of them wanted it.
  /// - Returns: the forwarding, which ends with the value or when it is cancelled.
  /// - Throws: what ``DarwinNotify/DarwinNotificationCenter/observe(_:on:_:)`` throws.
  public func forward(
    _ name: NotificationName, to target: NotificationCenter,
    as notification: Notification.Name? = nil, on delivery: Delivery = .main
  ) throws(DarwinNotifyError) -> Forwarding {
    let notification = notification ?? Notification.Name(name.rawValue)
    let route = ForwardingShare.Route(
      source: .notification(name, center: ObjectIdentifier(self)),
      target: ObjectIdentifier(target), notification: notification)
    return Forwarding(
      try ForwardingShare(in: route) { (registration) throws(DarwinNotifyError) in
        let observation = try observe(name, on: delivery) { [weak registration] event in
          guard registration?.isInUse == true else { return }
          target.post(
            name: notification, object: nil, userInfo: ["coalesced": event.coalesced])
        }
        // The center as well: what stands in its place in memory later is not it.
        registration.keep((self, observation))
      })
  }
}
