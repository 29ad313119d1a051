// Observes all names that begin with a prefix.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// Calls a handler for every post of a name with a prefix, until the observation ends.
  ///
  /// Posts are queued, never merged; ``NotificationEvent/dropped`` says how many are missing. From
  /// then on the bus delivers all of its posts to this process. Names of another user that could
  /// not be observed individually are left out.
  ///
  /// What the bus drops is caught up, as for observers of one name, only if another process held
  /// the name when this function was called, or if it was heard of since.
  ///
  /// Posts of other processes are heard only over the bus. Without one, or while it is gone, only
  /// the posts of this process are heard. That is not an error; ``isOnBus`` tells whether there is
  /// a bus. Once there is, posts are heard from then on.
  ///
  /// - Parameters:
  ///   - prefix: the prefix of the names, compared byte by byte; empty for all names.
  ///   - delivery: where the handler runs.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_prefix`.
  public func observe(
    withPrefix prefix: String, on delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    try withCString(prefix) { (prefix) throws(DarwinNotifyError) in
      let handler = dn_handler { handler(NotificationEvent($0)) }
      try checkRegistration(
        delivery.withExecutor {
          dn_center_observe_prefix(center, prefix, handler, $0, &observer)
        })
    }
    return NotificationObservation(adoptingRegistered: observer)
  }

  /// Returns the notifications of all names with a prefix as a sequence.
  ///
  /// It is registered when this returns. What is not guaranteed for prefixes stands with
  /// ``observe(withPrefix:on:_:)``.
  ///
  /// - Parameter prefix: what the names begin with, compared by its bytes; empty for all names.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_prefix`.
  public func notifications(
    withPrefix prefix: String
  ) throws(DarwinNotifyError) -> QueuedNotifications<NotificationEvent> {
    try QueuedNotifications { (delivery, handler) throws(DarwinNotifyError) in
      try self.observe(withPrefix: prefix, on: delivery, handler)
    }
  }
}

extension NotificationEvent {
  /// Copies an event that C lends.
  fileprivate init(_ event: dn_event) {
    self.init(
      name: NotificationName(String(cString: event.name)),
      coalesced: Int(clamping: event.n_posts), dropped: Int(clamping: event.n_dropped))
  }
}
