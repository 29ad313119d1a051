// Posts messages again in Foundation's notification center.

public import DarwinNotify
public import Foundation
public import Wormhole

extension Wormhole {
  /// Posts the messages of a name through a notification center of Foundation, as they arrive.
  ///
  /// Foundation's observers are called once for each message, however many wormholes of the process
  /// forward the name to that center. ``Foundation/Notification/message(of:)`` returns the message.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - target: the center to post through.
  ///   - notification: the name to post; by default the same text.
  ///   - delivery: where Foundation's observers are called, unless they ask for a queue. If the
  ///     name is already forwarded to that center, the first choice stays in effect.
  /// - Returns: the forwarding, which ends with the value or when it is cancelled.
  /// - Throws: what ``listen(_:from:starting:on:_:)`` throws.
  public func forward<Value>(
    _ name: MessageName<Value>, to target: NotificationCenter,
    as notification: Notification.Name? = nil, on delivery: Delivery = .main
  ) throws(WormholeError) -> Forwarding {
    let notification = notification ?? Notification.Name(name.rawValue)
    let route = ForwardingShare.Route(
      source: .messages(
        key(of: name), directory: directory.path, value: ObjectIdentifier(Value.self)),
      target: ObjectIdentifier(target), notification: notification)
    return Forwarding(
      try ForwardingShare(in: route) { (registration) throws(WormholeError) in
        let observation = try listen(name, starting: .new, on: delivery.forObservers) {
          [weak registration] message in
          guard registration?.isInUse == true else { return }
          target.post(name: notification, object: nil, userInfo: ["message": message])
        }
        registration.keep(observation)
      })
  }
}

extension Notification {
  /// Returns the message that this notification carries.
  ///
  /// - Parameter name: the name of the message.
  /// - Returns: the message, or `nil` if this is a different notification.
  public func message<Value>(of name: MessageName<Value>) -> Wormhole.Message<Value>? {
    guard let message = userInfo?["message"] as? Wormhole.Message<Value>,
      MessageName<Value>(message.name) == name
    else { return nil }
    return message
  }
}
