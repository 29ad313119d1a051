// Reads and sets the states of names.

internal import CDarwinNotify

extension NotifyToken {
  /// The state of the name: 64 bits that all registrations for it share, at first 0.
  ///
  /// It lives as long as any process has a registration for the name. To set it does not post. To
  /// set the state of a name that belongs to another user does nothing. Where ``readState()`` would
  /// throw the state is 0, and where ``setState(_:)`` would throw nothing is set.
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

  /// Sets the state of the name. It does not post.
  ///
  /// - Parameter state: the new state.
  /// - Throws: ``NotifyError/invalidToken``, ``NotifyError/disabled``.
  ///
  /// The corresponding C function is `notify_set_state`.
  public func setState(_ state: UInt64) throws(NotifyError) {
    try checkStatus(notify_set_state(rawValue, state))
  }
}
