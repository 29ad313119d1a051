// Limits the time that statements take.

internal import CSQLite

/// How far a statement has come.
///
/// Statements of this library end after a number of steps that only a foreign schema can need: a
/// file that somebody else has written must not occupy a thread forever. Every statement ends when
/// the ``WorkLimit`` of its thread is over.
struct StatementProgress {
  /// Whether the number of steps is limited.
  var isLimited = true

  /// The time limit of the call that runs the statement.
  var limit: WorkLimit?

  private var callCount = 0

  init(limit: WorkLimit?) {
    self.limit = limit
  }

  /// A step is an instruction of SQLite's virtual machine. Its speed is about 50 million a second.
  private static let maxSteps = 200_000_000

  /// The steps between two looks, some microseconds.
  private static let stepsBetweenLooks = 1_000

  /// Begins a statement.
  mutating func begin() {
    callCount = 0
  }

  /// Returns whether the statement may go on.
  fileprivate mutating func look() -> Bool {
    callCount += 1
    let isTooLong = isLimited && callCount > Self.maxSteps / Self.stepsBetweenLooks
    return !isTooLong && limit?.failure == nil
  }

  /// Makes a connection look this way. The pointer must stay valid until the connection is closed.
  static func install(
    _ progress: UnsafeMutablePointer<StatementProgress>, in connection: OpaquePointer
  ) {
    sqlite3_progress_handler(
      connection, Int32(stepsBetweenLooks),
      { context in
        context?.assumingMemoryBound(to: StatementProgress.self).pointee.look() == false ? 1 : 0
      }, progress)
  }
}

/// How a connection waits for a lock, which SQLite itself can only poll.
///
/// SQLite's own handler sleeps longer each time, up to 100 ms, so that among processes with small
/// transactions the ones that have waited longest never get the lock.
struct BusyWait {
  /// The waits of one call, which have a common deadline however many locks it needs.
  var ofCall: Backoff

  /// The waits of a part of the call that has a shorter time; `nil` outside it.
  var ofPart: Backoff?

  /// Pauses before the next attempt, the first for this lock or a later one. Returns false if the
  /// time is up.
  mutating func wait(isFirst: Bool) -> Bool {
    if isFirst { ofCall.restartPauses() }
    return ofPart?.wait() ?? ofCall.wait()
  }

  /// Makes a connection wait this way. The pointer must stay valid until the connection is closed.
  static func install(_ wait: UnsafeMutablePointer<BusyWait>, in connection: OpaquePointer) {
    sqlite3_busy_handler(
      connection,
      { context, attempt in
        context?.assumingMemoryBound(to: BusyWait.self).pointee.wait(isFirst: attempt == 0) == true
          ? 1 : 0
      }, wait)
  }
}
