// Observes distributed notifications with closures.

public import DarwinNotify
internal import DarwinNotifySupport
public import Foundation

extension DistributedNotificationCenter {
  /// Calls a handler for every post that fits, until the observation ends.
  ///
  /// When it returns, a post by any process reaches the handler. Without a bus it succeeds as well:
  /// the library goes on looking for one by itself.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - delivery: where the handler runs.
  ///   - handler: what to do. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: ``DarwinNotify/DarwinNotifyError/invalidArgument`` or
  ///   ``DarwinNotify/DarwinNotifyError/nameTooLong`` for a name that cannot be posted,
  ///   ``DarwinNotify/DarwinNotifyError/tooLarge`` for such an object,
  ///   ``DarwinNotify/DarwinNotifyError/notAuthorized`` for a name that belongs to another user,
  ///   ``DarwinNotify/DarwinNotifyError/outOfMemory``,
  ///   ``DarwinNotify/DarwinNotifyError/limitReached``.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe(
    _ name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedNotification) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    try observe(
      DistributedFilter(name, object: object, behavior: suspensionBehavior), on: delivery, handler)
  }

  /// Calls a handler on the main actor for every post that fits, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - handler: what to do. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe(
    _ name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce,
    _ handler: @escaping @MainActor @Sendable (DistributedNotification) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    try observe(
      name, object: object, suspensionBehavior: suspensionBehavior, on: .main,
      onMainActor(handler))
  }

  /// Calls a handler in the isolation of an actor for every post that fits, until the observation
  /// ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - actor: the actor. It lives as long as the observation.
  ///   - handler: what to do, with the actor. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe<Isolation: Actor>(
    _ name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, DistributedNotification) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    try observe(
      name, object: object, suspensionBehavior: suspensionBehavior, on: .actor(actor),
      isolated(to: actor, handler))
  }

  /// Calls a handler for every post of a name with a prefix, until the observation ends.
  ///
  /// The bus delivers all posts of distributed notifications to this process from then on.
  ///
  /// - Parameters:
  ///   - prefix: what the names begin with, compared by its bytes; empty for all names.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - delivery: where the handler runs.
  ///   - handler: what to do. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe(
    withPrefix prefix: String, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedNotification) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    try observe(
      DistributedFilter(.prefix(prefix), object: object, behavior: suspensionBehavior.rawValue),
      on: delivery, handler)
  }

  private func observe(
    _ filter: DistributedFilter, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedNotification) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    try center.observe(filter, on: delivery) { handler(DistributedNotification(event: $0)) }
  }
}

extension DistributedFilter {
  /// A filter as Foundation describes it: `nil` stands for all.
  init(
    _ name: Notification.Name?, object: String?,
    behavior: DistributedNotificationCenter.SuspensionBehavior
  ) {
    self.init(
      name.map { .name($0.rawValue) } ?? .all, object: object, behavior: behavior.rawValue)
  }
}
