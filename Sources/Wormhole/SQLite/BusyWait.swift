// Waits for the locks of other connections.

internal import CSQLite
internal import Glibc

/// How a connection waits for a lock, of which SQLite can only ask whether it is free.
///
/// SQLite's own way sleeps longer each time, up to 100 ms: among several processes with small
/// transactions, those that have waited long get nothing. Here the sleeps are short, so that
/// everybody asks about as often, and random, so that nobody asks in step with somebody's commits.
struct BusyWait {
  /// How long to wait before giving up: no transaction should take that long. Whoever is stopped
  /// in the middle of one does not stop the others for ever.
  static let longestMilliseconds = 10_000

  private static let shortestSleep: UInt32 = 50
  private static let longestSleep: UInt32 = 2_000

  /// Whether to wait at all.
  var isPatient = true

  private var deadline: UInt64 = 0

  /// Sleeps for a while, given how often this was called before for the same lock. Returns false if
  /// it is time to give up.
  mutating func wait(attempt: Int32) -> Bool {
    guard isPatient else { return false }
    let now = monotonicNanoseconds()
    if attempt == 0 {
      deadline = now + UInt64(Self.longestMilliseconds) * 1_000_000
    }
    guard now < deadline else { return false }
    let longest = min(Self.longestSleep, Self.shortestSleep << UInt32(min(attempt + 1, 6)))
    usleep(UInt32.random(in: Self.shortestSleep...longest))
    return true
  }
}

extension BusyWait {
  /// Lets a connection wait this way. The pointer has to stay valid until the connection is closed.
  static func install(_ wait: UnsafeMutablePointer<BusyWait>, in connection: OpaquePointer) {
    sqlite3_busy_handler(
      connection,
      { context, attempt in
        context?.assumingMemoryBound(to: BusyWait.self).pointee.wait(attempt: attempt) == true
          ? 1 : 0
      }, wait)
  }
}

private func monotonicNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
