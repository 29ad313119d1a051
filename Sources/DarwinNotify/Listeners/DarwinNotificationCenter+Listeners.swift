// Binds named listeners to notifications.

internal import CDarwinNotify
internal import Glibc

extension DarwinNotificationCenter {
  /// Binds a listener to a notification. It replaces the listener of the same name.
  ///
  /// When a listener is replaced, each post reaches exactly one of the two. If binding fails, the
  /// old listener stays. If two threads bind the same name at the same time, one of the two
  /// listeners stays; if another thread unbinds it meanwhile, none does. Binding also succeeds
  /// without a bus: the library keeps looking for one.
  ///
  /// - Parameters:
  ///   - listener: the listener. Names of listeners are compared byte by byte.
  ///   - name: the notification to listen for.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C functions are `dn_center_observe`, `dn_observer_replace`.
  public func bind(
    _ listener: Listener<NotificationEvent>,
    to name: NotificationName
  ) throws {
    let binding = listeners.begin(listener.name, of: name)
    do {
      let old = listeners.find(listener.name, of: name)
      var new = try old?.replace(for: name, on: listener.delivery, listener.action)
      if new == nil { new = try observe(name, on: listener.delivery, listener.action) }
      if let new { listeners.end(binding, with: new)?.cancel() }
    } catch {
      listeners.end(binding)
      throw error
    }
  }

  /// Removes a listener. If called where the listener runs, no call of it follows.
  ///
  /// - Parameters:
  ///   - listener: the name of the listener. If it is not bound, nothing happens.
  ///   - name: the notification that it is bound to.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func unbind(_ listener: String, from name: NotificationName) {
    listeners.take(listener, from: name)?.cancel()
  }

  /// Removes all listeners of a notification. It does not affect observations and sequences.
  ///
  /// - Parameter name: the notification that the listeners are bound to.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func unbindAll(from name: NotificationName) {
    for observation in listeners.takeAll(from: name) {
      observation.cancel()
    }
  }
}

extension NotificationObservation {
  /// Hands the registration over to another handler, which gets every later post. Returns `nil` if
  /// the registration has already ended.
  fileprivate func replace(
    for name: NotificationName,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) throws -> NotificationObservation? {
    guard let old = registration as? ObserverReference else { return nil }
    var successor: OpaquePointer?
    var handler = dn_handler(for: name, handler)
    let result = delivery.withExecutor {
      dn_observer_replace(old.observer, &handler, $0, &successor)
    }
    // C has no other cause for it here.
    if result == -EINVAL { return nil }
    try check(result)
    return NotificationObservation(adoptingRegistered: successor)
  }
}
