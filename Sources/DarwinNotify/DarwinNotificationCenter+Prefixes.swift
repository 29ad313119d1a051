// Observes all names that begin with a prefix.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// Calls a handler for every post of a name with a prefix, until the observation ends.
  ///
  /// Names that a process of this user has registered are heard through the table that these
  /// processes share, with or without a bus: posts of one name that are found there together are
  /// one event. For all other posts, those of names that nobody has registered and those of other
  /// D-Bus programs, the bus delivers every signal to this process; what it drops of these is lost.
  /// Names of another user that could not be observed individually are left out.
  ///
  /// Posts are queued, never merged; ``NotificationEvent/dropped`` is the number of missing ones.
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
  ) throws -> NotificationObservation {
    var observer: OpaquePointer?
    try check(register(prefix, delivery, handler, &observer))
    return NotificationObservation(adoptingRegistered: observer)
  }

  /// Does the same, but throws ``DarwinNotifyError/notConnected`` if there is neither a bus nor a
  /// table.
  package func observeOthers(
    withPrefix prefix: String, on delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    let result = try register(prefix, delivery, handler, &observer)
    try check(result)
    let observation = NotificationObservation(adoptingRegistered: observer)
    guard result != DN_NOT_CONNECTED else { throw .notConnected }
    return observation
  }

  private func register(
    _ prefix: String, _ delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void, _ observer: inout OpaquePointer?
  ) throws(DarwinNotifyError) -> CInt {
    var result: CInt = 0
    try withCString(prefix) { (prefix) throws(DarwinNotifyError) in
      var handler = dn_handler { handler(NotificationEvent($0)) }
      result = delivery.withExecutor {
        dn_center_observe_prefix(center, prefix, &handler, $0, &observer)
      }
    }
    return result
  }

  /// Returns the notifications of all names with a prefix as a sequence.
  ///
  /// It is registered when this returns. What is not guaranteed for prefixes stands with
  /// ``observe(withPrefix:on:_:)-(_,Delivery,_)``.
  ///
  /// - Parameter prefix: what the names begin with, compared by its bytes; empty for all names.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_prefix`.
  public func notifications(
    withPrefix prefix: String
  ) throws -> QueuedNotifications<NotificationEvent> {
    try QueuedNotifications(wokenOn: executor) { delivery, handler in
      try self.observe(withPrefix: prefix, on: delivery, handler)
    }
  }
}

extension NotificationEvent {
  /// Copies an event that C lends.
  fileprivate init(_ event: dn_event) {
    self.init(
      name: NotificationName(String(cString: event.name)),
      coalesced: Int(clamping: event.n_posts), dropped: Int(clamping: event.n_dropped),
      sender: Sender(of: event))
  }
}
