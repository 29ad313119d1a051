// Gives access to the Darwin notifications of a bus.

internal import CDarwinNotify

/// A notification center whose notifications are names, heard by every process on the same bus.
///
/// A post may be seen late, never lost: after the last post of a name each of its handlers runs
/// at least once. The process hears its own posts too, once. No call waits for a receiver.
///
/// The corresponding C type is `dn_center`.
public final class DarwinNotificationCenter: Sendable {
  nonisolated(unsafe) let center: OpaquePointer
  // The pointer never changes. C accepts it on any thread.

  let listeners = ListenerTable<NotificationName, NotificationObservation>()

  /// The center of the process.
  ///
  /// It speaks on the bus of the session, or on the one that the environment variable
  /// `DARWIN_NOTIFY_BUS` names. The corresponding C function is `dn_center_darwin`.
  public static let shared = DarwinNotificationCenter(adopting: dn_center_darwin())

  /// Opens a center of its own, with a connection of its own.
  ///
  /// Its listeners end with it; its observations end with their values. It closes in the
  /// background, because closing may wait for the bus.
  ///
  /// - Parameter bus: the bus to speak on. A bus that is not there is looked for until it is.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` for an address that is empty or has a NUL in
  ///   it, ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_open`.
  public convenience init(bus: Bus) throws(DarwinNotifyError) {
    var center: OpaquePointer?
    try withCString(bus.specification) { (specification) throws(DarwinNotifyError) in
      try check(dn_center_open(specification, &center))
    }
    self.init(adopting: center)
  }

  private init(adopting center: OpaquePointer?) {
    guard let center else { preconditionFailure("C returned success without a center") }
    self.center = center
  }

  deinit {
    closeInBackground(center)
  }

  /// Posts a notification.
  ///
  /// - Parameter name: the name to post.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` or ``DarwinNotifyError/nameTooLong`` for a
  ///   name that cannot be posted, ``DarwinNotifyError/outOfMemory``,
  ///   ``DarwinNotifyError/limitReached``, ``DarwinNotifyError/notConnected``. The last is a
  ///   report, not a refusal: there is no bus, nor shared memory to reach other processes by; the
  ///   post has reached the handlers of this process, and is sent when a bus appears.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post(_ name: NotificationName) throws(DarwinNotifyError) {
    try post(name, options: 0)
  }

  /// Posts a notification that says no more than "look again": those that come in a flood may reach
  /// the bus as one, up to a millisecond late.
  package func postMerging(_ name: NotificationName) throws(DarwinNotifyError) {
    try post(name, options: UInt32(DN_POST_MERGE))
  }

  private func post(
    _ name: NotificationName, options: UInt32
  ) throws(DarwinNotifyError) {
    try withCString(name.rawValue) { (name) throws(DarwinNotifyError) in
      try check(dn_center_post(center, name, nil, nil, options))
    }
  }

  /// Calls a handler for every post of a name, until the observation ends.
  ///
  /// When it returns, a post by any process reaches the handler. Without a bus it succeeds as
  /// well: the library goes on looking for one by itself.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - delivery: where the handler runs.
  ///   - handler: what to do. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` or ``DarwinNotifyError/nameTooLong`` for a
  ///   name that cannot be posted, ``DarwinNotifyError/notAuthorized`` for one that belongs to
  ///   another user, ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/limitReached``.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func observe(
    _ name: NotificationName,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    try withCString(name.rawValue) { (cName) throws(DarwinNotifyError) in
      let handler = dn_handler(for: name, handler)
      try checkRegistration(
        delivery.withExecutor { dn_center_observe(center, cName, handler, $0, &observer) })
    }
    return NotificationObservation(adoptingRegistered: observer)
  }

  /// Returns the notifications of a name as a sequence.
  ///
  /// It is registered when this returns: no post after that is missed, however late the
  /// iteration begins.
  ///
  /// - Parameter name: the name to listen for.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func notifications(
    named name: NotificationName
  ) throws(DarwinNotifyError) -> Notifications {
    try Notifications(of: name, from: self)
  }

  /// Whether the center is connected to its bus at the moment.
  ///
  /// Then every program on the bus sees its posts. Without a bus, the programs of the user that use
  /// this library reach one another all the same. The first use of a center waits for the
  /// connection, for at most a second.
  ///
  /// The corresponding C function is `dn_center_is_on_bus`.
  public var isOnBus: Bool { dn_center_is_on_bus(center) > 0 }

  /// Waits until every post of this process, on all centers, has been handed to its bus.
  ///
  /// It is not needed before leaving the process by `exit` or by returning from `main`, which
  /// waits for up to a second by itself.
  ///
  /// - Parameter timeout: the longest time to wait; zero only asks.
  /// - Throws: ``DarwinNotifyError/timedOut`` if posts are still waiting,
  ///   ``DarwinNotifyError/notConnected`` if they are because there is no bus.
  ///
  /// The corresponding C function is `dn_flush`.
  public func flush(timeout: Duration) throws(DarwinNotifyError) {
    try check(dn_flush(timeout.wholeMicroseconds))
  }
}
