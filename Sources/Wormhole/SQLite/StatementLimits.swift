// Limits the time that statements take.

internal import CSQLite

/// How a connection waits for a lock, which SQLite itself can only poll, and when it gives up.
///
/// SQLite's own handler sleeps longer each time, up to 100 ms, so that among processes with small
/// transactions the ones that have waited longest never get the lock.
struct BusyWait {
  /// The waits of one call, which have a common deadline however many locks it needs.
  var ofCall: Backoff

  /// The waits of a part of the call that has a shorter time; `nil` outside it.
  var ofPart: Backoff?

  /// The instructions of SQLite's virtual machine between two checks of the call's limit, which
  /// take some microseconds.
  private static let stepsBetweenLooks: Int32 = 1_000

  /// Pauses before the next attempt, the first for this lock or a later one. Returns false if the
  /// time is up.
  mutating func wait(isFirst: Bool) -> Bool {
    if isFirst { ofCall.restartPauses() }
    return ofPart?.wait() ?? ofCall.wait()
  }

  /// Makes a connection wait this way and end the statements of a call that is over. The pointer
  /// must stay valid until the connection is closed.
  static func install(_ wait: UnsafeMutablePointer<BusyWait>, in connection: OpaquePointer) {
    sqlite3_busy_handler(
      connection,
      { context, attempt in
        context?.assumingMemoryBound(to: BusyWait.self).pointee.wait(isFirst: attempt == 0) == true
          ? 1 : 0
      }, wait)
    sqlite3_progress_handler(
      connection, stepsBetweenLooks,
      { context in
        context?.assumingMemoryBound(to: BusyWait.self).pointee.ofCall.limit?.failure == nil ? 0 : 1
      }, wait)
  }
}
