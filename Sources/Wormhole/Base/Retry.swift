// Tries again after a pause.

internal import DarwinNotifySupport
internal import Glibc

/// Another attempt at something that failed, up to 100 ms later.
///
/// The pause is spent on a separate thread: Dispatch's timers end the process if they find no free
/// descriptor, which may be the very reason for the failure.
enum Retry {
  /// In microseconds.
  private static let pause: UInt32 = 100_000

  /// The work to run after the pause.
  private static let jobs = Locked<[@Sendable () -> Void]>([])

  /// Runs work later; now, if there is no memory for a thread.
  static func later(_ work: @escaping @Sendable () -> Void) {
    let needsThread = jobs.withLock { jobs in
      jobs.append(work)
      return jobs.count == 1
    }
    if needsThread, !startThread() { runJobs() }
  }

  /// Returns later.
  static func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation(isolation: isolation) { continuation in
      later { continuation.resume() }
    }
  }

  private static func startThread() -> Bool {
    var thread = pthread_t()
    guard pthread_create(&thread, nil, runRetryThread, nil) == 0 else { return false }
    pthread_detach(thread)
    return true
  }

  /// Pauses, then runs what is waiting.
  fileprivate static func runThread() {
    usleep(pause)
    runJobs()
  }

  private static func runJobs() {
    for job in jobs.withLock({ jobs in jobs.take() }) { job() }
  }
}

/// Another attempt, one for all the failures that precede it.
final class CoalescingRetry: Sendable {
  private let isPending = Locked(false)

  /// Runs work later, unless an attempt is pending.
  func later(_ work: @escaping @Sendable () -> Void) {
    let isFirst = isPending.withLock { isPending in
      defer { isPending = true }
      return !isPending
    }
    guard isFirst else { return }
    Retry.later { [self] in
      isPending.withLock { $0 = false }
      work()
    }
  }
}

/// The main function of the thread, which C calls.
private func runRetryThread(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  Retry.runThread()
  return nil
}

extension Array {
  /// Returns the elements and removes them.
  fileprivate mutating func take() -> Self {
    defer { removeAll() }
    return self
  }
}
