// Ends work that nobody is waiting for.

internal import DarwinNotifySupport

/// Until when a piece of work may run.
///
/// It is passed to everything that waits or takes long, which checks whether it is over.
package final class WorkLimit: Sendable {
  private let timing: Locked<(start: ContinuousClock.Instant, seenBefore: Duration)>

  /// When the call began, or last did something else than wait. All its waits since, for its turn
  /// and for each lock, are timed from here.
  var start: ContinuousClock.Instant { timing.withLock { $0.start } }
  var seenBefore: Duration { timing.withLock { $0.seenBefore } }

  /// When the time is up, if the caller has set a limit.
  let deadline: ContinuousClock.Instant?

  private let subject: String
  private let isCancelled = Locked(false)

  /// Limits work on something, a message or a file, which is named when the time is up.
  package init(on subject: String = "", timeout: Duration? = nil) {
    let start = ContinuousClock.now
    timing = Locked((start, Backoff.seenTime))
    self.subject = subject
    deadline = timeout.map { start + $0 }
  }

  /// Begins the time for waits anew, after work of the call itself. The deadline stays.
  func restartWaits() {
    timing.withLock { $0 = (.now, Backoff.seenTime) }
  }

  /// Why the work is to end, or `nil` if it may go on.
  var failure: WormholeError? {
    if isCancelled.withLock({ $0 }) { return .cancelled }
    guard let deadline, .now >= deadline else { return nil }
    return .timedOut(subject)
  }

  /// Ends the work.
  func cancel() {
    isCancelled.withLock { $0 = true }
  }
}
