// Observes distributed notifications with closures.

public import DarwinNotify
internal import DarwinNotifySupport
public import Foundation

extension DistributedNotificationCenter {
  /// Calls a handler for every matching post, until the observation ends.
  ///
  /// Once it returns, a post by any process reaches the handler. It also succeeds without a bus:
  /// the library keeps looking for one.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - delivery: where the handler runs.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: `DarwinNotifyError.invalidArgument` or
  ///   `DarwinNotifyError.nameTooLong` for an invalid name,
  ///   `DarwinNotifyError.tooLarge` for such an object,
  ///   `DarwinNotifyError.notAuthorized` for a name that belongs to another user,
  ///   `DarwinNotifyError.outOfMemory`,
  ///   `DarwinNotifyError.limitReached`.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe(
    _ name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedNotification) -> Void
  ) throws -> NotificationObservation {
    try observe(
      DistributedFilter(name, object: object, behavior: suspensionBehavior), on: delivery, handler)
  }

  /// Calls a handler on the main actor for every matching post, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe(
    _ name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce,
    _ handler: @escaping @MainActor @Sendable (DistributedNotification) -> Void
  ) throws -> NotificationObservation {
    try observe(
      name, object: object, suspensionBehavior: suspensionBehavior, on: .main,
      onMainActor(handler))
  }

  /// Calls a handler, isolated to an actor, for every matching post, until the observation ends.
  ///
  /// - Parameters:
  ///   - name: the name to listen for; `nil` for every name.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - actor: the actor. It lives as long as the observation.
  ///   - handler: the handler, which is passed the actor. It is released once the observation has
  ///     ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe<Isolation: Actor>(
    _ name: Notification.Name?, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, DistributedNotification) -> Void
  ) throws -> NotificationObservation {
    try observe(
      name, object: object, suspensionBehavior: suspensionBehavior, on: .actor(actor),
      onActor(actor, handler))
  }

  /// Calls a handler for every post of a name with a prefix, until the observation ends.
  ///
  /// The bus delivers all posts of distributed notifications to this process from then on.
  ///
  /// - Parameters:
  ///   - prefix: the prefix of the names, compared byte by byte; empty for all names.
  ///   - object: only posts with this object; `nil` for all.
  ///   - suspensionBehavior: what happens while the observers of this process are suspended.
  ///   - delivery: where the handler runs.
  ///   - handler: the handler. It is released once the observation has ended.
  /// - Returns: the observation, which ends with the value or when it is cancelled.
  /// - Throws: what ``observe(_:object:suspensionBehavior:on:_:)-(_,_,_,Delivery,_)`` throws.
  ///
  /// The corresponding C function is `dn_center_observe_filtered`.
  public func observe(
    withPrefix prefix: String, object: String? = nil,
    suspensionBehavior: SuspensionBehavior = .coalesce, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedNotification) -> Void
  ) throws -> NotificationObservation {
    try observe(
      DistributedFilter(.prefix(prefix), object: object, behavior: suspensionBehavior.rawValue),
      on: delivery, handler)
  }

  private func observe(
    _ filter: DistributedFilter, on delivery: Delivery,
    _ handler: @escaping @Sendable (DistributedNotification) -> Void
  ) throws -> NotificationObservation {
    try center.observe(filter, on: delivery) { handler(DistributedNotification(event: $0)) }
  }
}

extension DistributedFilter {
  /// A filter in Foundation's terms: `nil` stands for all.
  init(
    _ name: Notification.Name?, object: String?,
    behavior: DistributedNotificationCenter.SuspensionBehavior
  ) {
    self.init(
      name.map { .name($0.rawValue) } ?? .all, object: object, behavior: behavior.rawValue)
  }
}
