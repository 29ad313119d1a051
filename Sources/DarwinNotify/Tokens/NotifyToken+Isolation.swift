// Registers tokens with handlers in the isolation of an actor.

internal import DarwinNotifySupport

extension NotifyToken {
  /// Registers a handler on the main actor, which is called for each post.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - handler: the handler, which gets the token. It is released once the token has ended.
  /// - Throws: what ``init(_:)`` throws.
  ///
  /// The corresponding C functions are `notify_register_dispatch`, `dn_notify_register_callback`.
  public convenience init(
    _ name: NotificationName, _ handler: @escaping @MainActor @Sendable (NotifyToken) -> Void
  ) throws(NotifyError) {
    try self.init(name, on: .main, onMainActor(handler))
  }

  /// Registers a handler in the isolation of an actor, which is called for each post.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - actor: the actor. It lives as long as the registration.
  ///   - handler: the handler, which gets the actor and the token. Released once the token has
  ///     ended.
  /// - Throws: what ``init(_:)`` throws.
  ///
  /// The corresponding C functions are `notify_register_dispatch`, `dn_notify_register_callback`.
  public convenience init<Isolation: Actor>(
    _ name: NotificationName, on actor: Isolation,
    _ handler: @escaping @Sendable (isolated Isolation, NotifyToken) -> Void
  ) throws(NotifyError) {
    try self.init(name, on: .actor(actor), isolated(to: actor, handler))
  }
}
