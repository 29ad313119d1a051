// Runs blocking jobs outside the cooperative thread pool.

internal import DarwinNotifySupport
internal import Dispatch

/// A queue that runs a limited number of jobs at a time, in the order received.
///
/// A waiting job uses no thread.
final class WorkQueue: Sendable {
  /// The threads of all queues.
  private static let threads = DispatchQueue(label: "wormhole.work", attributes: .concurrent)

  private let state: Locked<State>

  private struct State {
    var free: Int
    var waiting: ArraySlice<@Sendable () -> Void> = []
  }

  /// Creates a queue.
  ///
  /// - Parameter width: the number of jobs that run at a time.
  init(width: Int) {
    state = Locked(State(free: width))
  }

  /// Runs a job and returns its result.
  ///
  /// If the task is cancelled or the time is up, a job that waits for its turn is not run, and one
  /// that runs finds its ``WorkLimit`` over.
  ///
  /// - Parameters:
  ///   - subject: what the job works on, for the error if the time is up.
  ///   - timeout: how long to wait; `nil` for no limit.
  ///   - job: the job.
  /// - Returns: what the job returns.
  /// - Throws: ``WormholeError/cancelled`` or ``WormholeError/timedOut(_:)`` if it was not run.
  func run<Value: Sendable>(
    on subject: String, timeout: Duration? = nil, _ job: @escaping @Sendable () -> Value
  ) async throws(WormholeError) -> Value {
    let work = Work<Value>(WorkLimit(on: subject, timeout: timeout))
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        work.begin(continuation)
        submit { work.run(job) }
      }
    } onCancel: {
      work.cancel()
    }.get()
  }

  private func submit(_ job: @escaping @Sendable () -> Void) {
    let canRun = state.withLock { state in
      guard state.free > 0 else {
        state.waiting.append(job)
        return false
      }
      state.free -= 1
      return true
    }
    if canRun { start(job) }
  }

  private func start(_ job: @escaping @Sendable () -> Void) {
    Self.threads.async {
      job()
      self.startNext()
    }
  }

  private func startNext() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.free += 1 }
      return next
    }
    if let next { start(next) }
  }
}

/// A job with the task that waits for it.
private final class Work<Value: Sendable>: Sendable {
  typealias Continuation = CheckedContinuation<Result<Value, WormholeError>, Never>

  private let limit: WorkLimit
  private let waiting = Locked<Continuation?>(nil)

  init(_ limit: WorkLimit) {
    self.limit = limit
  }

  /// Waits for the turn of the job.
  func begin(_ continuation: Continuation) {
    waiting.withLock { $0 = continuation }
    dropIfOver()
    watch()
  }

  func cancel() {
    limit.cancel()
    dropIfOver()
  }

  /// Runs the job, unless it has been dropped.
  func run(_ job: () -> Value) {
    dropIfOver()
    guard let task = waiting.withLock({ $0.take() }) else { return }
    task.resume(returning: .success(limit.apply(job)))
  }

  /// Ends the wait if nobody wants the result any more. A job that has begun ends by itself.
  private func dropIfOver() {
    guard let failure = limit.failure else { return }
    waiting.withLock { $0.take() }?.resume(returning: .failure(failure))
  }

  /// Looks now and then whether the time is up, while the job waits for its turn.
  private func watch() {
    guard limit.hasDeadline, waiting.withLock({ $0 != nil }) else { return }
    Retry.later { [weak self] in
      self?.dropIfOver()
      self?.watch()
    }
  }
}
