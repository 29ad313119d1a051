// Binds named listeners to notifications.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// Binds a listener to a notification. It replaces the listener of the same name.
  ///
  /// When a listener is replaced, each post reaches exactly one of the two. If binding fails, the
  /// old listener stays. If two threads bind the same name at the same time, one of the two
  /// listeners stays. Binding also succeeds without a bus: the library keeps looking for one.
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
  ) throws(DarwinNotifyError) {
    guard let old = listeners.take(listener.name, from: name) else {
      let new = try observe(name, on: listener.delivery, listener.action)
      return settle(new, for: listener, of: name)
    }
    do throws(DarwinNotifyError) {
      let new = try old.replace(for: name, on: listener.delivery, listener.action)
      settle(new, for: listener, of: name)
    } catch {
      listeners.putBack(old, for: listener.name, of: name)
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

  /// Puts a new observation into the table, and ends one that another thread put there meanwhile.
  private func settle(
    _ observation: NotificationObservation,
    for listener: Listener<NotificationEvent>,
    of name: NotificationName
  ) {
    listeners.put(observation, for: listener.name, of: name)?.cancel()
  }
}

extension NotificationObservation {
  /// Hands the registration over to another handler, which gets every later post.
  fileprivate func replace(
    for name: NotificationName,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var successor: OpaquePointer?
    let handler = dn_handler(for: name, handler)
    try check(
      delivery.withExecutor { dn_observer_replace(observer, handler, $0, &successor) })
    return NotificationObservation(adoptingRegistered: successor)
  }
}
