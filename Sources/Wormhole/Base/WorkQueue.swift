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
  func run<Value: Sendable>(_ job: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      submit { continuation.resume(returning: job()) }
    }
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
