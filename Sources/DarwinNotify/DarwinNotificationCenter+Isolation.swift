// Observes notifications isolated to an actor.

internal import DarwinNotifySupport

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
  ) throws(DarwinNotifyError) -> NotificationObservation {
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
  ) throws(DarwinNotifyError) -> NotificationObservation {
    try observe(name, on: .actor(actor), isolated(to: actor, handler))
  }
}
