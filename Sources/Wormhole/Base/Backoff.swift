// Paces the attempts to take a lock.

internal import Glibc

/// The pauses between attempts to take a lock that can only be polled.
///
/// The pauses are short, so that long waiters get their turn as often as newcomers, and random, so
/// that nobody polls in step with another's commits.
struct Backoff {
  /// How long to wait if nobody says. Work under a lock takes milliseconds; a process that holds
  /// one for longer has been stopped, and must not stop the others forever.
  static let timeout = Duration.seconds(10)

  /// The same for Dispatch, which does not know `Duration`.
  static let timeoutSeconds = Double(timeout.components.seconds)

  /// In microseconds.
  private static let shortestPause: UInt32 = 20
  private static let longestPause: UInt32 = 2_000

  /// The attempts of half the default time. After a machine has stood still, those that hold a
  /// lock have not been slow, and get the time to let go of it.
  private static let fewestAttempts = 5_000

  private let deadline: ContinuousClock.Instant
  private var attemptsLeft: Int
  private var pause: UInt32 = 2 * shortestPause

  /// Without a timeout, attempts are made as long as the work on this thread may take, or for the
  /// default time.
  init(timeout: Duration? = nil) {
    let limit = timeout == nil ? WorkLimit.current?.deadline : nil
    deadline = limit ?? .now + (timeout ?? Self.timeout)
    attemptsLeft = timeout == nil ? Self.fewestAttempts : 0
  }

  /// Pauses before the next attempt. Returns false if the time is up, or that of the whole work.
  mutating func wait() -> Bool {
    guard WorkLimit.current?.failure == nil else { return false }
    guard attemptsLeft > 0 || ContinuousClock.now < deadline else { return false }
    attemptsLeft -= 1
    usleep(UInt32.random(in: Self.shortestPause...pause))
    pause = min(pause * 2, Self.longestPause)
    return true
  }
}
