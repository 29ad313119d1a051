// Paces further attempts at something that failed.

internal import DarwinNotifySupport
internal import Dispatch
internal import Glibc

/// Another attempt at something that failed, up to 100 ms later.
///
/// The pause is spent on a separate thread: Dispatch's timers end the process if they find no free
/// descriptor, which may be the very reason for the failure.
enum Retry {
  /// In microseconds.
  private static let pause: UInt32 = 100_000

  private struct State {
    /// The work to run after the pause.
    var jobs: [@Sendable () -> Void] = []
    /// Whether it is run by a thread that called ``later(_:)``.
    var runsInCaller = false
  }

  private static let state = Locked(State())

  /// Runs work later. While no thread can be started, the caller pauses and runs what waits.
  static func later(_ work: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      state.jobs.append(work)
      return state.jobs.count == 1 && !state.runsInCaller
    }
    guard isFirst else { return }
    while mustRunInCaller() { runJobs() }
  }

  /// Starts a thread for what waits. Returns whether something waits and none can be started.
  private static func mustRunInCaller() -> Bool {
    let isWaiting = state.withLock { state in
      state.runsInCaller = false
      return !state.jobs.isEmpty
    }
    guard isWaiting, !startThread(runJobs) else { return false }
    state.withLock { $0.runsInCaller = true }
    return true
  }

  /// Pauses, then runs what is waiting.
  @Sendable private static func runJobs() {
    usleep(pause)
    for job in state.withLock({ state in state.jobs.take() }) { job() }
  }
}

extension Array {
  /// Returns the elements and removes them.
  fileprivate mutating func take() -> Self {
    defer { removeAll() }
    return self
  }
}

/// The pauses between attempts to take a lock that can only be polled.
///
/// The pauses are short, so that long waiters get their turn as often as newcomers, and random, so
/// that nobody polls in step with another's commits.
package struct Backoff {
  /// The default waiting time. Work under a lock takes milliseconds; a process that holds
  /// one for longer has been stopped, and must not stop the others forever.
  static let timeout = Duration.seconds(10)

  /// In microseconds.
  private static let shortestPause: UInt32 = 20
  private static let longestPause: UInt32 = 1_000

  /// What a call without a timeout must see of its time before it gives up. After a process was
  /// stopped, or a machine stood still, processes that hold a lock have not been slow, and get the
  /// time to release it.
  private static let leastSeen = timeout / 2

  /// The longest time between two attempts that is not taken for a stop.
  private static let longestStep = Duration.milliseconds(100)

  let deadline: ContinuousClock.Instant

  /// The deadline of the whole work.
  let limit: WorkLimit?

  /// What ``seenTime`` must be before it gives up.
  private let leastSeenTime: Duration
  private var pause: UInt32 = 2 * shortestPause

  /// Without a timeout, attempts continue until the deadline of the limit or, if it has none, for
  /// the default time since the whole work began, or last did something else than wait. If the
  /// process is stopped meanwhile, they continue for up to half the default time after it resumes.
  package init(
    timeout: Duration? = nil, from start: ContinuousClock.Instant? = nil, limit: WorkLimit? = nil
  ) {
    self.limit = limit
    if let timeout {
      (deadline, leastSeenTime) = (.now + timeout, .zero)
    } else {
      deadline = limit?.deadline ?? (start ?? limit?.start ?? .now) + Self.timeout
      leastSeenTime = (limit?.seenBefore ?? Self.seenTime) + Self.leastSeen
    }
  }

  private static let seen = Locked((last: ContinuousClock.now, time: Duration.zero))

  /// The time in which this process has waited for locks, in any thread, and was not stopped.
  static var seenTime: Duration { seen.withLock { $0.time } }

  private static func look() -> Duration {
    seen.withLock { seen in
      let now = ContinuousClock.now
      seen.time += min(now - seen.last, longestStep)
      seen.last = now
      return seen.time
    }
  }

  /// Whether the time is up, or that of the whole work.
  var isOver: Bool {
    if limit?.failure != nil { return true }
    let seenTime = Self.look()
    return seenTime >= leastSeenTime && .now >= deadline
  }

  /// When something that also signals is to be looked at again: after a pause, but not after the
  /// deadline.
  func nextLook(within pause: Duration) -> DispatchTime {
    let rest = deadline - .now
    let pause = rest > .zero ? min(rest, pause) : pause
    return .now() + .nanoseconds(Int(pause / .nanoseconds(1)))
  }

  /// Begins with short pauses again, for another lock. The time goes on.
  mutating func restartPauses() {
    pause = 2 * Self.shortestPause
  }

  /// Pauses before the next attempt. Returns false if the time is up, or that of the whole work.
  mutating func wait() -> Bool {
    guard !isOver else { return false }
    usleep(UInt32.random(in: Self.shortestPause...pause))
    pause = min(pause * 2, Self.longestPause)
    return true
  }
}
