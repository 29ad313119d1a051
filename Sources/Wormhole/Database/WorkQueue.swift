// Runs blocking work away from the threads of tasks.

internal import DarwinNotify
internal import Dispatch

/// A queue that runs some pieces of work at a time, in the order in which they came.
///
/// Work that has to wait for its turn takes no thread.
final class WorkQueue: Sendable {
  private let queue: DispatchQueue
  private let state: Locked<State>

  private struct State {
    var free: Int
    var waiting: ArraySlice<@Sendable () -> Void> = []
  }

  /// Makes a queue.
  ///
  /// - Parameters:
  ///   - label: what debuggers show.
  ///   - width: how many pieces of work run at a time.
  init(_ label: String, width: Int) {
    queue = DispatchQueue(label: label, attributes: .concurrent)
    state = Locked(State(free: width))
  }

  /// Runs a piece of work, and returns what it returns.
  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      submit { continuation.resume(returning: work()) }
    }
  }

  private func submit(_ work: @escaping @Sendable () -> Void) {
    let canRun = state.withLock { state in
      guard state.free > 0 else {
        state.waiting.append(work)
        return false
      }
      state.free -= 1
      return true
    }
    if canRun { start(work) }
  }

  private func start(_ work: @escaping @Sendable () -> Void) {
    queue.async {
      work()
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
