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
  /// - Throws: ``WormholeError/cancelled`` or ``WormholeError/timedOut`` if it was not run.
  func run<Value: Sendable>(
    on subject: String, timeout: Duration? = nil, _ job: @escaping @Sendable () -> Value
  ) async throws(WormholeError) -> Value {
    let work = Work(WorkLimit(on: subject, timeout: timeout), job)
    return try await withTaskCancellationHandler {
      submit { work.run() }
      return await work.value()
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
  private let limit: WorkLimit
  /// The job until it begins or is dropped: taking it decides which.
  private let job: Locked<(@Sendable () -> Value)?>
  private let result = Promise<Result<Value, WormholeError>>()

  init(_ limit: WorkLimit, _ job: @escaping @Sendable () -> Value) {
    self.limit = limit
    self.job = Locked(job)
  }

  /// Waits for the result.
  func value() async -> Result<Value, WormholeError> {
    dropIfOver()
    watch()
    return await result.value()
  }

  func cancel() {
    limit.cancel()
    dropIfOver()
  }

  /// Runs the job, unless it has been dropped.
  func run() {
    dropIfOver()
    guard let value = perform() else { return }
    // What the result holds, such as a cursor, lives no longer than the task needs it.
    result.provide(.success(consume value))
  }

  /// Lets go of the job, and so of what it holds, before anybody knows its result.
  private func perform() -> Value? {
    take().map { limit.apply($0) }
  }

  /// Ends the wait if nobody wants the result any more. A job that has begun ends by itself.
  private func dropIfOver() {
    guard let failure = limit.failure, take() != nil else { return }
    result.provide(.failure(failure))
  }

  private func take() -> (@Sendable () -> Value)? {
    job.withLock { $0.take() }
  }

  /// Looks now and then whether the time is up, while the job waits for its turn.
  private func watch() {
    guard limit.deadline != nil, job.withLock({ $0 != nil }) else { return }
    Retry.later { [weak self] in
      self?.dropIfOver()
      self?.watch()
    }
  }
}
