// Gives modules above this one access to the notifications inside the process.

internal import CDarwinNotify

/// The local center: a post calls the handlers on its own thread, before it returns.
///
/// The corresponding C function is `dn_center_local`.
package enum LocalCenter {
  /// One delivery. The corresponding C type is `dn_event`.
  package struct Event {
    package let name: String
    package let object: UnsafeRawPointer?
    package let userInfo: AnyObject?
  }

  /// Calls a handler for every matching post, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this pointer; `nil` for all.
  ///   - handler: what to do, on the thread of the poster.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` for an invalid name,
  ///   ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  package static func observe(
    _ name: String?, object: UnsafeRawPointer?, _ handler: @escaping @Sendable (Event) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    try withOptionalCString(name) { (name) throws(DarwinNotifyError) in
      var handler = dn_handler { handler(Event($0)) }
      var filter = dn_filter()
      filter.name = name
      filter.object = object
      try check(dn_center_observe_filtered(dn_center_local(), &filter, &handler, nil, &observer))
    }
    return NotificationObservation(adoptingRegistered: observer)
  }

  /// Posts a notification.
  ///
  /// - Parameters:
  ///   - name: the name to post.
  ///   - object: compared with the pointers of the observers.
  ///   - userInfo: handed to the handlers as it is.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` for an invalid name,
  ///   ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_post`.
  package static func post(
    _ name: String, object: UnsafeRawPointer?, userInfo: AnyObject?
  ) throws(DarwinNotifyError) {
    try withCString(name) { (name) throws(DarwinNotifyError) in
      // The local center never looks at what it delivers.
      let userInfo = userInfo.map { OpaquePointer(Context.lend($0)) }
      try check(dn_center_post(dn_center_local(), name, object, userInfo, 0))
    }
    withExtendedLifetime(userInfo) {}
  }
}

extension LocalCenter.Event {
  fileprivate init(_ event: dn_event) {
    name = String(cString: event.name)
    object = event.object
    userInfo = event.user_info.map {
      Context.borrow(UnsafeMutableRawPointer($0), as: AnyObject.self)
    }
  }
}
