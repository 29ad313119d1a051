// Registers tokens whose handlers are isolated to an actor.

internal import DarwinNotifySupport

extension NotifyToken {
  /// Registers a handler that is called on the main actor for each post.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - handler: the handler, which is passed the token. It is released once the token has ended.
  /// - Throws: what ``init(_:)`` throws.
  ///
  /// The corresponding C functions are `notify_register_dispatch`, `dn_notify_register_callback`.
  public convenience init(
    _ name: NotificationName, _ handler: @escaping @MainActor @Sendable (NotifyToken) -> Void
  ) throws(NotifyError) {
    try self.init(name, on: .main, onMainActor(handler))
  }

  /// Registers a handler that is called, isolated to an actor, for each post.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - actor: the actor. It lives as long as the registration.
  ///   - handler: the handler, which is passed the actor and the token. It is released once the
  ///     token has ended.
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
