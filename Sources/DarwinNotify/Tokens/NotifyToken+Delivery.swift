// Controls the deliveries of a token.

internal import CDarwinNotify
internal import DarwinNotifySupport

extension NotifyToken {
  /// Returns whether the name was posted since the last check of this token; the first check
  /// returns true.
  ///
  /// Each token is checked by itself, whatever its kind, suspended or not. A burst of posts is one
  /// change. After the token has ended, the result is false.
  ///
  /// The corresponding C function is `notify_check`.
  public func check() -> Bool {
    var isChanged: CInt = 0
    _ = notify_check(rawValue, &isChanged)
    return isChanged != 0
  }

  /// Reads the count of posts that ``check()`` compares, without counting as a check.
  ///
  /// - Returns: a count with no meaning except that it changes.
  /// - Throws: ``NotifyError/invalidToken``, ``NotifyError/invalidRequest`` for a token with a
  ///   delivery, unless its name begins with `self.`.
  ///
  /// The corresponding C function is `notify_peek`.
  public func peek() throws -> UInt32 {
    var count: UInt32 = 0
    try checkStatus(notify_peek(rawValue, &count))
    return count
  }

  /// Holds deliveries back until ``resume()`` has been called as often as this.
  ///
  /// Has no effect if the token has ended. The corresponding C function is `notify_suspend`.
  public func suspend() {
    _ = notify_suspend(rawValue)
  }

  /// Undoes one ``suspend()``. The last one delivers once if there were posts meanwhile.
  ///
  /// Has no effect if the token is not suspended, or has ended. The corresponding C function is
  /// `notify_resume`.
  public func resume() {
    _ = notify_resume(rawValue)
  }
}

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
  ) throws {
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
  ) throws {
    try self.init(name, on: .actor(actor), onActor(actor, handler))
  }
}

extension NotifyToken {
  /// The descriptor that becomes readable when the token's name is posted.
  ///
  /// The corresponding C parameters are `notify_fd`, `flags` of `notify_register_file_descriptor`.
  public enum Descriptor: Sendable {
    /// The read end of a new pipe.
    case new

    /// The descriptor of another token, which must be valid.
    ///
    /// The corresponding C constant is `NOTIFY_REUSE`.
    case shared(with: NotifyToken)
  }
}

extension NotifyToken.Descriptor {
  /// The arguments for C: a descriptor, if there already is one, and the flags.
  func cArguments() throws(NotifyError) -> (descriptor: CInt, flags: CInt) {
    switch self {
    case .new: return (-1, 0)
    case .shared(let token):
      guard let descriptor = token.fileDescriptor else { throw .invalidFile }
      return (descriptor, NOTIFY_REUSE)
    }
  }
}
