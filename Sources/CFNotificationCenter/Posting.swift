// Posts notifications.
// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DarwinNotify

/// Posts a notification.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - name: the name to post.
///   - object: what observers may ask for. Without one, only those that ask for none get it. The
///     Darwin center ignores it.
///   - userInfo: what the notification carries. The Darwin center ignores it.
///   - deliverImmediately: whether observers that are suspended get it as well.
///
/// The corresponding C function is `dn_center_post`.
public func CFNotificationCenterPostNotification(
  _ center: CFNotificationCenter!, _ name: CFNotificationName!, _ object: UnsafeRawPointer!,
  _ userInfo: CFDictionary!, _ deliverImmediately: Bool
) {
  CFNotificationCenterPostNotificationWithOptions(
    center, name, object, userInfo, deliverImmediately ? kCFNotificationDeliverImmediately : 0)
}

/// Posts a notification with options.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - name: the name to post.
///   - object: what observers may ask for. Without one, only those that ask for none get it. The
///     Darwin center ignores it.
///   - userInfo: what the notification carries. The Darwin center ignores it.
///   - options: ``kCFNotificationDeliverImmediately`` and ``kCFNotificationPostToAllSessions``;
///     other bits are ignored.
///
/// The corresponding C function is `dn_center_post`.
public func CFNotificationCenterPostNotificationWithOptions(
  _ center: CFNotificationCenter!, _ name: CFNotificationName!, _ object: UnsafeRawPointer!,
  _ userInfo: CFDictionary!, _ options: CFOptionFlags
) {
  guard let center else { return }
  CFNotificationCenter.report {
    guard let name else { throw DarwinNotifyError.invalidArgument }
    try center.kind.post(name.rawValue, object: object, userInfo: userInfo, options: options)
  }
}
