// Posts Darwin notifications again in Foundation's notification center.

public import DarwinNotify
public import Foundation

extension DarwinNotificationCenter {
  /// Posts a notification again through a notification center of Foundation, whenever it arrives.
  ///
  /// Foundation's observers are called once for each post, however often and by whomever the name
  /// is forwarded from this center to that one. The `userInfo` has the number of posts that the
  /// notification stands for under `"coalesced"`: 1, unless more arrived than the center could
  /// deliver one by one.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - target: the center to post through.
  ///   - notification: the name to post; by default the same text.
  ///   - delivery: where Foundation's observers are called. If the name is already forwarded to
  ///     that center, the first choice stays in effect.
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
        // The center is kept, too: another center at the same address later would be mistaken for
        // it.
        registration.keep((self, observation))
      })
  }
}
