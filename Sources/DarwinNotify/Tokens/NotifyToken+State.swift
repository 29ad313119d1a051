// Reads and sets the states of names.

internal import CDarwinNotify

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
  public func readState() throws(NotifyError) -> UInt64 {
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
  public func setState(_ state: UInt64) throws(NotifyError) {
    try checkStatus(notify_set_state(rawValue, state))
  }
}
