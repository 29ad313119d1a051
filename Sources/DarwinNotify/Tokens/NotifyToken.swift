// Registers for notifications in the style of <notify.h>.

internal import CDarwinNotify
internal import Synchronization

/// A registration for a name, in the style of `<notify.h>`. It ends with this object.
///
///     let token = try NotifyToken("com.example.changed")
///     if token.check() { … }
///     token.state = 42
///
/// The tokens of a process use the bus of ``DarwinNotificationCenter/shared``. A token of the
/// parent process is not valid in a forked child. The corresponding C type is `int`.
public final class NotifyToken: Sendable {
  /// The registered name.
  public let name: NotificationName

  private let number = Atomic<CInt>(NOTIFY_TOKEN_INVALID)
  private let descriptor: Atomic<CInt>

  private static let noDescriptor: CInt = -1

  /// Creates a token that is not registered yet.
  private init(unregistered name: NotificationName, descriptor: CInt = noDescriptor) {
    self.name = name
    self.descriptor = Atomic(descriptor)
  }

  deinit {
    cancel()
  }

  /// Registers for a name without any delivery: ``check()`` returns whether it was posted.
  ///
  /// - Parameter name: the name to register for.
  /// - Throws: ``NotifyError/invalidName``, ``NotifyError/notAuthorized`` for a name that belongs
  ///   to another user, ``NotifyError/serverNotFound`` with neither a bus nor a shared table,
  ///   ``NotifyError/disabled``, ``NotifyError/failed``.
  ///
  /// The corresponding C function is `notify_register_check`.
  public convenience init(_ name: NotificationName) throws {
    self.init(unregistered: name)
    try register { name, number in notify_register_check(name, &number) }
  }

  /// Registers a handler that is called for each post.
  ///
  /// If more than 16 posts wait for a handler, the rest are delivered as one call.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - delivery: where the handler runs.
  ///   - handler: the handler, which is passed the token. It is released once the token has ended.
  /// - Throws: what ``init(_:)`` throws.
  ///
  /// The corresponding C functions are `notify_register_dispatch`, `dn_notify_register_callback`.
  public convenience init(
    _ name: NotificationName,
    on delivery: Delivery,
    _ handler: @escaping @Sendable (NotifyToken) -> Void
  ) throws {
    self.init(unregistered: name)
    try register { name, number in
      var handler = dn_token_handler(for: self, handler)
      return delivery.withExecutor {
        dn_notify_register_callback(name, &handler, $0, &number)
      }
    }
  }

  /// Registers a signal that is sent to the process for each post.
  ///
  /// ``check()`` finds out which of several tokens a signal is for. Also call it once after
  /// registering, since the first check always returns true.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - signal: the number of the signal, such as `SIGUSR1`.
  /// - Throws: what ``init(_:)`` throws, ``NotifyError/invalidSignal``.
  ///
  /// The corresponding C function is `notify_register_signal`.
  public convenience init(_ name: NotificationName, signal: CInt) throws {
    self.init(unregistered: name)
    try register { name, number in notify_register_signal(name, signal, &number) }
  }

  /// Registers a descriptor that becomes readable with each post.
  ///
  /// Each post writes 4 bytes, ``rawValue`` in network byte order. When the pipe is full, further
  /// posts write nothing until it has been read.
  ///
  /// - Parameters:
  ///   - name: the name to register for.
  ///   - descriptor: a new one, or that of another token.
  /// - Throws: what ``init(_:)`` throws, ``NotifyError/invalidFile`` if the other token has no
  ///   descriptor, or has ended.
  ///
  /// The corresponding C function is `notify_register_file_descriptor`.
  public convenience init(
    _ name: NotificationName, descriptor: Descriptor
  ) throws {
    var (number, flags) = try descriptor.cArguments()
    self.init(unregistered: name)
    try register { name, token in
      notify_register_file_descriptor(name, &number, flags, &token)
    }
    self.descriptor.store(number, ordering: .releasing)
  }

  /// The number of the token: positive, and never used twice in a process.
  ///
  /// The corresponding C parameter is `token`.
  public var rawValue: CInt { number.load(ordering: .acquiring) }

  /// The descriptor that posts make readable; `nil` for other kinds of tokens, and after the token
  /// has ended.
  ///
  /// It belongs to the library, which closes it with the last token that uses it: do not close it.
  /// The corresponding C parameter is `notify_fd` of `notify_register_file_descriptor`.
  public var fileDescriptor: CInt? {
    let descriptor = descriptor.load(ordering: .acquiring)
    return descriptor != Self.noDescriptor && isValid ? descriptor : nil
  }

  /// Whether the registration has not ended.
  ///
  /// The corresponding C function is `notify_is_valid_token`.
  public var isValid: Bool { notify_is_valid_token(rawValue) }

  /// Ends the registration. Calling it again has no effect.
  ///
  /// After a call made where the handler runs, the handler does not run again, not even for a post
  /// that is already on its way. After a call from anywhere else, at most one run that has already
  /// begun completes.
  ///
  /// The corresponding C function is `notify_cancel`.
  public func cancel() {
    _ = notify_cancel(rawValue)
  }

  /// Stores the number of the registration, which its handler may learn before the caller does.
  func adopt(number: CInt) {
    self.number.store(number, ordering: .releasing)
  }

  /// Registers by calling a C function with the name.
  private func register(
    _ function: (UnsafePointer<CChar>, inout CInt) -> UInt32
  ) throws(NotifyError) {
    try withCString(name) { (name) throws(NotifyError) in
      var number = NOTIFY_TOKEN_INVALID
      try checkStatus(function(name, &number))
      adopt(number: number)
    }
  }
}

extension NotifyToken {
  /// The state of the name: 64 bits that all of its registrations share, initially 0.
  ///
  /// It lives as long as any process has a registration for the name. Setting it does not post.
  /// Setting the state of another user's name does nothing. Errors are ignored: where
  /// ``readState()`` would throw, the state is 0; where ``setState(_:)`` would throw, nothing is
  /// set.
  ///
  /// The corresponding C functions are `notify_get_state`, `notify_set_state`.
  public var state: UInt64 {
    get { (try? readState()) ?? 0 }
    set { try? setState(newValue) }
  }

  /// Reads the state of the name.
  ///
  /// - Returns: the state.
  /// - Throws: ``NotifyError/invalidToken``, ``NotifyError/disabled``.
  ///
  /// The corresponding C function is `notify_get_state`.
  public func readState() throws -> UInt64 {
    var state: UInt64 = 0
    try checkStatus(notify_get_state(rawValue, &state))
    return state
  }

  /// Sets the state of the name, without posting.
  ///
  /// - Parameter state: the new state.
  /// - Throws: ``NotifyError/invalidToken``, ``NotifyError/disabled``.
  ///
  /// The corresponding C function is `notify_set_state`.
  public func setState(_ state: UInt64) throws {
    try checkStatus(notify_set_state(rawValue, state))
  }
}
