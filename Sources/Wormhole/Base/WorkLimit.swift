// Ends work that nobody is waiting for.

internal import DarwinNotifySupport

/// Until when a piece of work may run.
///
/// It is known to everything that the work calls on its thread, so that what waits or takes long
/// can look whether it is over.
package final class WorkLimit: Sendable {
  /// The limit of the work on this thread.
  @TaskLocal static var current: WorkLimit?

  private struct State {
    var isCancelled = false

    /// Wakes the work where it does not look.
    var interrupt: (@Sendable () -> Void)?
  }

  /// When the time is up, if the caller has set a limit.
  let deadline: ContinuousClock.Instant?

  private let subject: String
  private let state = Locked(State())

  /// Limits work on something, a message or a file, which is named when the time is up.
  package init(on subject: String, timeout: Duration?) {
    self.subject = subject
    deadline = timeout.map { .now + $0 }
  }

  /// Why the work is to end, or `nil` if it may go on.
  var failure: WormholeError? {
    if state.withLock({ $0.isCancelled }) { return .cancelled }
    guard let deadline, .now >= deadline else { return nil }
    return .timedOut(subject)
  }

  /// Ends the work.
  func cancel() {
    state.withLock { state in
      state.isCancelled = true
      // Under the lock, so that the interrupted work still exists. It does not wait.
      state.interrupt?()
    }
  }

  /// Runs a body that can be interrupted.
  func with<Value, Failure: Error>(
    interrupt: @escaping @Sendable () -> Void, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outer = state.withLock { state in
      defer { state.interrupt = interrupt }
      return state.interrupt
    }
    defer { state.withLock { $0.interrupt = outer } }
    return try body()
  }

  /// Runs a body on this thread under the limit.
  func apply<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    try Self.$current.withValue(self) { Result(catching: body) }.get()
  }

  /// Throws if the work on this thread is to end.
  static func check() throws(WormholeError) {
    if let failure = current?.failure { throw failure }
  }
}
