// Posts distributed notifications.

internal import DarwinNotify
public import Foundation

extension DistributedNotificationCenter {
  /// Posts a notification.
  ///
  /// - Parameters:
  ///   - name: the name to post.
  ///   - object: text that observers may filter by. Without one, only observers without a filter
  ///     get the post.
  ///   - userInfo: the user info, a property list.
  ///   - options: how to post it.
  /// - Throws: ``DistributedNotificationError/notAPropertyList``, or
  ///   ``DistributedNotificationError/failed(_:)`` with
  ///   `DarwinNotifyError.invalidArgument`,
  ///   `DarwinNotifyError.nameTooLong`,
  ///   `DarwinNotifyError.tooLarge`,
  ///   `DarwinNotifyError.outOfMemory`,
  ///   `DarwinNotifyError.limitReached`, or
  ///   `DarwinNotifyError.notConnected`. The last is a report, not a refusal: the
  ///   post has reached the observers of this process, and is sent when a bus appears.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post(
    _ name: Notification.Name, object: String? = nil, userInfo: [AnyHashable: Any]?,
    options: Options = []
  ) throws {
    let list = try userInfo.map { (userInfo) throws(DistributedNotificationError) in
      try UserInfoEncoder.encode(userInfo)
    }
    try post(name, object: object, list: list, options: options)
  }

  /// Posts a notification whose user info is a C property list.
  func post(
    _ name: Notification.Name, object: String?, list: PropertyList?, options: Options
  ) throws(DistributedNotificationError) {
    do throws(DarwinNotifyError) {
      try center.post(name.rawValue, object: object, userInfo: list, options: options.rawValue)
    } catch {
      throw .failed(error)
    }
  }
}

// Apple's signatures.
extension DistributedNotificationCenter {
  /// Posts a notification. Errors go to ``onError``.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post(name: Notification.Name, object: String?) {
    postNotificationName(name, object: object, userInfo: nil, options: [])
  }

  /// Posts a notification with a user info, a property list. Errors go to ``onError``.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post(
    name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]?
  ) {
    postNotificationName(name, object: object, userInfo: userInfo, options: [])
  }

  /// Posts a Foundation notification. Its object must be a string. Errors go to ``onError``.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post(_ notification: Notification) {
    report {
      let object = try notification.object.map { object in
        guard let text = object as? String else {
          throw DistributedNotificationError.notAPropertyList(
            path: "object", type: "\(type(of: object))")
        }
        return text
      }
      try post(notification.name, object: object, userInfo: notification.userInfo)
    }
  }

  /// Posts a notification, optionally also to suspended observers. Errors go to ``onError``.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func postNotificationName(
    _ name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil,
    deliverImmediately: Bool
  ) {
    postNotificationName(
      name, object: object, userInfo: userInfo,
      options: deliverImmediately ? .deliverImmediately : [])
  }

  /// Posts a notification with options. Errors go to ``onError``.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func postNotificationName(
    _ name: Notification.Name, object: String?, userInfo: [AnyHashable: Any]? = nil,
    options: Options = []
  ) {
    report {
      try post(name, object: object, userInfo: userInfo, options: options)
    }
  }
}
