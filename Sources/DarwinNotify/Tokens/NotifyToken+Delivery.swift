// Asks for posts, or holds them back.

internal import CDarwinNotify

extension NotifyToken {
  /// Tells whether the name was posted since the token was last asked; the first answer is true.
  ///
  /// Each token is asked by itself, of whatever kind it is, whether or not it is suspended. A burst
  /// of posts is one change. A token that has ended answers false.
  ///
  /// The corresponding C function is `notify_check`.
  public func check() -> Bool {
    var isChanged: CInt = 0
    _ = notify_check(rawValue, &isChanged)
    return isChanged != 0
  }

  /// Reads the count of posts that ``check()`` compares, without being counted as a check.
  ///
  /// - Returns: a count that begins anywhere: only whether it has changed means something.
  /// - Throws: ``NotifyError/invalidToken``, ``NotifyError/invalidRequest`` for a token with a
  ///   delivery, unless its name begins with `self.`.
  ///
  /// The corresponding C function is `notify_peek`.
  public func peek() throws(NotifyError) -> UInt32 {
    var count: UInt32 = 0
    try checkStatus(notify_peek(rawValue, &count))
    return count
  }

  /// Holds deliveries back until ``resume()`` was called as often as this.
  ///
  /// With a token that has ended nothing happens. The corresponding C function is `notify_suspend`.
  public func suspend() {
    _ = notify_suspend(rawValue)
  }

  /// Undoes one ``suspend()``. The last one delivers once, if there were posts meanwhile.
  ///
  /// With a token that is not suspended, or has ended, nothing happens. The corresponding C
  /// function is `notify_resume`.
  public func resume() {
    _ = notify_resume(rawValue)
  }
}
