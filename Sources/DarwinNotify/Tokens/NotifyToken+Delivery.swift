// Checks for posts and suspends deliveries.

internal import CDarwinNotify

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
  public func peek() throws(NotifyError) -> UInt32 {
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
