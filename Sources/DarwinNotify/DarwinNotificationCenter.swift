// Gives access to the Darwin notifications of a bus.

internal import CDarwinNotify
internal import Dispatch
// Modules that need no bus also use `Delivery`. The attribute is underscored, but there is no
// alternative: an alias would hide the enumeration's cases from files that import only this module.
@_exported public import DarwinNotifySupport

/// A notification center whose notifications are names, heard by every process on the same bus.
///
/// A post may be seen late, but is never lost: after the last post of a name each of its handlers
/// runs at least once. The process also hears its own posts, once. No call waits for a receiver.
///
/// The corresponding C type is `dn_center`.
public final class DarwinNotificationCenter: Sendable {
  let executor: CenterExecutor
  var center: OpaquePointer { executor.center }

  /// Whether no bus will ever serve the center: it was made by ``isolated()``.
  package let isIsolated: Bool

  let listeners = ListenerTable<NotificationName, NotificationObservation>()

  /// The center of the process.
  ///
  /// It uses the session bus, or the bus that the environment variable `DARWIN_NOTIFY_BUS` names.
  /// The corresponding C function is `dn_center_darwin`.
  public static let shared = DarwinNotificationCenter(adopting: dn_center_darwin())

  /// Opens a separate center with its own connection.
  ///
  /// Its listeners end with it; its observations end with their values. It closes in the
  /// background, because closing may wait for the bus.
  ///
  /// - Parameter bus: the bus to use. If it is not there yet, the library keeps looking for it.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` if the address is empty or contains a NUL,
  ///   ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_open`.
  public convenience init(bus: Bus) throws {
    self.init(adopting: try openCenter(on: bus, by: dn_center_open), isIsolated: bus.isIsolated)
  }

  private init(adopting center: OpaquePointer?, isIsolated: Bool = false) {
    guard let center else { preconditionFailure("C returned success without a center") }
    executor = CenterExecutor(adopting: center)
    self.isIsolated = isIsolated
  }

  /// Posts a notification.
  ///
  /// - Parameter name: the name to post.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` or ``DarwinNotifyError/nameTooLong`` for an
  ///   invalid name, ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/limitReached``,
  ///   ``DarwinNotifyError/notConnected``. The last is a report, not a refusal: there is neither a
  ///   bus nor shared memory to reach other processes; the post has reached the handlers of this
  ///   process, and is sent when a bus appears.
  ///
  /// The corresponding C function is `dn_center_post`.
  public func post(_ name: NotificationName) throws {
    try withCString(name.rawValue) { (name) throws(DarwinNotifyError) in
      try checkPost(dn_center_post(center, name, nil, nil, 0))
    }
  }

  /// Calls a handler for every post of a name, until the observation ends.
  ///
  /// Once it returns, a post by any process reaches the handler. It also succeeds without a bus:
  /// the library keeps looking for one.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - delivery: where the handler runs.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: ``DarwinNotifyError/invalidArgument`` or ``DarwinNotifyError/nameTooLong`` for an
  ///   invalid name, ``DarwinNotifyError/notAuthorized`` for one that belongs to another user,
  ///   ``DarwinNotifyError/outOfMemory``, ``DarwinNotifyError/limitReached``.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func observe(
    _ name: NotificationName,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) throws -> NotificationObservation {
    var observer: OpaquePointer?
    try withCString(name.rawValue) { (cName) throws(DarwinNotifyError) in
      var handler = dn_handler(for: name, handler)
      try check(
        delivery.withExecutor { dn_center_observe(center, cName, &handler, $0, &observer) })
    }
    return NotificationObservation(adoptingRegistered: observer)
  }

  /// Returns the notifications of a name as a sequence.
  ///
  /// It is registered when this returns: no later post is missed, however late the iteration
  /// begins.
  ///
  /// - Parameter name: the name to listen for.
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func notifications(
    named name: NotificationName
  ) throws -> Notifications {
    try Notifications(of: name, from: self)
  }

  /// Whether the center is currently connected to its bus.
  ///
  /// If so, every program on the bus sees its posts. The user's programs that use this library
  /// reach one another even without a bus. The first use of a center waits for the connection, for
  /// at most a second.
  ///
  /// The corresponding C function is `dn_center_is_on_bus`.
  public var isOnBus: Bool { dn_center_is_on_bus(center) > 0 }

  /// Waits until every post of this process, on all centers, has been handed to its bus, and
  /// reports posts that no bus has taken.
  ///
  /// If it returns, nothing was lost on the way to the bus since the last call. The user's programs
  /// that share the table with this one have heard of each post in any case.
  ///
  /// Not needed before leaving the process by `exit` or by returning from `main`, which wait for up
  /// to a second themselves.
  ///
  /// - Parameter timeout: how long to wait; zero only checks.
  /// - Throws: ``DarwinNotifyError/timedOut`` if posts are still waiting,
  ///   ``DarwinNotifyError/notConnected`` if that is because there is no bus. If none is waiting,
  ///   what was lost is reported once: ``DarwinNotifyError/notConnected`` if a bus was lost before
  ///   it had read them or there is none to connect to, ``DarwinNotifyError/limitReached`` or
  ///   ``DarwinNotifyError/outOfMemory`` if posts were refused for that reason.
  ///
  /// The corresponding C function is `dn_flush`.
  @available(*, noasync, message: "await waitUntilFlushed(timeout:) instead")
  public func flush(timeout: Duration) throws {
    try check(dn_flush(timeout.wholeMicroseconds))
  }

  /// Does what ``flush(timeout:)`` does, without blocking the thread.
  ///
  /// - Parameter timeout: how long to wait; zero only checks.
  /// - Throws: what ``flush(timeout:)`` throws.
  ///
  /// The corresponding C function is `dn_flush`.
  public func waitUntilFlushed(timeout: Duration) async throws {
    let result = await withCheckedContinuation { flushed in
      DispatchQueue.global().async {
        flushed.resume(returning: dn_flush(timeout.wholeMicroseconds))
      }
    }
    try check(result)
  }
}

extension DarwinNotificationCenter {
  /// Calls a handler on the main actor for every post of a name, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func observe(
    _ name: NotificationName,
    _ handler: @escaping @MainActor @Sendable (NotificationEvent) -> Void
  ) throws -> NotificationObservation {
    try observe(name, on: .main, onMainActor(handler))
  }

  /// Calls a handler, isolated to an actor, for every post of a name, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - actor: the actor. It lives as long as the observation.
  ///   - handler: the handler, which is passed the actor and the event.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe`.
  public func observe<Isolation: Actor>(
    _ name: NotificationName,
    on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, NotificationEvent) -> Void
  ) throws -> NotificationObservation {
    try observe(name, on: .actor(actor), onActor(actor, handler))
  }

  /// Calls a handler on the main actor for every post of a name with a prefix, until the
  /// observation ends.
  ///
  /// - Parameters:
  ///   - prefix: the prefix of the names, compared byte by byte; empty for all names.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_prefix`.
  public func observe(
    withPrefix prefix: String,
    _ handler: @escaping @MainActor @Sendable (NotificationEvent) -> Void
  ) throws -> NotificationObservation {
    try observe(withPrefix: prefix, on: .main, onMainActor(handler))
  }

  /// Calls a handler, isolated to an actor, for every post of a name with a prefix, until the
  /// observation ends.
  ///
  /// - Parameters:
  ///   - prefix: the prefix of the names, compared byte by byte; empty for all names.
  ///   - actor: the actor. It lives as long as the observation.
  ///   - handler: the handler, which is passed the actor and the event.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:on:_:)-(_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_prefix`.
  public func observe<Isolation: Actor>(
    withPrefix prefix: String, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, NotificationEvent) -> Void
  ) throws -> NotificationObservation {
    try observe(withPrefix: prefix, on: .actor(actor), onActor(actor, handler))
  }
}

extension DarwinNotificationCenter {
  /// The version of the library, such as `1.0.0`.
  ///
  /// The corresponding C function is `dn_version`.
  public static let libraryVersion = String(cString: dn_version())
}
