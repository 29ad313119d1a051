// Ends work that nobody is waiting for.

internal import DarwinNotifySupport

/// Until when a piece of work may run.
///
/// It is passed to everything that waits or takes long, which checks whether it is over.
package final class WorkLimit: Sendable {
  /// When the call began. All its waits, for its turn and for each lock, are timed from here.
  let start: ContinuousClock.Instant
  let seenBefore = Backoff.seenTime

  /// When the time is up, if the caller has set a limit.
  let deadline: ContinuousClock.Instant?

  private let subject: String
  private let isCancelled = Locked(false)

  /// Limits work on something, a message or a file, which is named when the time is up.
  package init(on subject: String = "", timeout: Duration? = nil) {
    let start = ContinuousClock.now
    (self.start, self.subject) = (start, subject)
    deadline = timeout.map { start + $0 }
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
