// Runs blocking jobs outside the cooperative thread pool.

internal import DarwinNotifySupport
internal import Dispatch

/// A queue that runs a limited number of jobs at a time, in the order received.
///
/// A waiting job uses no thread. A running job has a thread of its own, because each place in the
/// queue is a serial queue of Dispatch. A concurrent one would share as many threads as there are
/// processors with all Swift tasks: a few long queries would stop the tasks that can cancel them.
///
/// A thread that has nothing to do waits for a while for the next job: if each job were given to
/// Dispatch, which often starts a thread for it although another is about to be free, a listener
/// would soon have fifty.
final class WorkQueue: Sendable {
  private let state: Locked<State>
  private let wakeUp = DispatchSemaphore(value: 0)

  private struct State {
    /// One for each thread that may still be started.
    var free: [DispatchQueue]

    /// The number of threads that wait for a job, and were not woken yet.
    var idleCount = 0

    var waiting: ArraySlice<@Sendable () -> Void> = []
  }

  private enum Step {
    case wake
    case start(DispatchQueue)
    case none
  }

  private let idle: DispatchTimeInterval

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - width: the number of jobs that run at a time.
  ///   - idle: how long a thread waits for the next job.
  init(width: Int, idle: DispatchTimeInterval = .seconds(5)) {
    self.idle = idle
    state = Locked(State(free: (0..<width).map { _ in DispatchQueue(label: "wormhole.work") }))
  }

  /// Runs a job, which gets the limit of its call, and returns its result.
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
    on subject: String, timeout: Duration? = nil,
    _ job: @escaping @Sendable (WorkLimit) -> Value
  ) async throws(WormholeError) -> Value {
    let limit = WorkLimit(on: subject, timeout: timeout)
    let work = Work(limit) { job(limit) }
    return try await withTaskCancellationHandler {
      submit { work.run() }
      return await work.value()
    } onCancel: {
      work.cancel()
    }.get()
  }

  /// Runs a job when it is its turn.
  func submit(_ job: @escaping @Sendable () -> Void) {
    let step = state.withLock { state -> Step in
      state.waiting.append(job)
      guard state.idleCount == 0 else {
        state.idleCount -= 1
        return .wake
      }
      return state.free.popLast().map { .start($0) } ?? .none
    }
    switch step {
    case .wake: wakeUp.signal()
    case .start(let thread): thread.async { self.runJobs(on: thread) }
    case .none: break
    }
  }

  private func runJobs(on thread: DispatchQueue) {
    while true {
      if let job = takeJob() {
        job()
      } else if wakeUp.wait(timeout: .now() + idle) == .timedOut {
        if stop(thread) { return }
        // A job has just claimed it.
        wakeUp.wait()
      }
    }
  }

  private func takeJob() -> (@Sendable () -> Void)? {
    state.withLock { state in
      let job = state.waiting.popFirst()
      if job == nil { state.idleCount += 1 }
      return job
    }
  }

  /// Gives up the place of an idle thread, unless all idle threads have been woken.
  private func stop(_ thread: DispatchQueue) -> Bool {
    state.withLock { state in
      guard state.idleCount > 0 else { return false }
      state.idleCount -= 1
      state.free.append(thread)
      return true
    }
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
    // Objects that the result holds, such as a cursor, live no longer than the task needs them.
    result.provide(.success(consume value))
  }

  /// Lets go of the job, and so of what it holds, before anybody knows its result.
  private func perform() -> Value? {
    take()?()
  }

  /// Ends the wait if nobody wants the result any longer. A job that has begun ends by itself.
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
