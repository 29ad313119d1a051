// Waits for the locks of other connections.

internal import CSQLite

/// How a connection waits for a lock, which SQLite itself can only poll.
///
/// SQLite's own handler sleeps longer each time, up to 100 ms, so that among processes with small
/// transactions those that have waited long never get the lock.
struct BusyWait {
  /// How long to wait, if not for the default time.
  var timeout: Duration?

  private var backoff = Backoff()

  /// Pauses, given the number of earlier calls for the same lock. Returns false if the timeout
  /// expired.
  fileprivate mutating func wait(attempt: Int32) -> Bool {
    if attempt == 0 { backoff = Backoff(timeout: timeout) }
    return backoff.wait()
  }

  /// Makes a connection wait this way. The pointer must stay valid until the connection is closed.
  static func install(_ wait: UnsafeMutablePointer<BusyWait>, in connection: OpaquePointer) {
    sqlite3_busy_handler(
      connection,
      { context, attempt in
        context?.assumingMemoryBound(to: BusyWait.self).pointee.wait(attempt: attempt) == true
          ? 1 : 0
      }, wait)
  }
}
