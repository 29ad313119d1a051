// Makes tasks wait for their turn.

internal import DarwinNotifySupport

/// A number of permits; tasks that find none wait for one, in the order in which they came.
final class Permits: Sendable {
  private struct State {
    var count: Int
    var waiting: [Promise<Bool>] = []

    /// Removes the first that waits; if there is none, the permit is free.
    mutating func next() -> Promise<Bool>? {
      guard !waiting.isEmpty else {
        count += 1
        return nil
      }
      return waiting.removeFirst()
    }
  }

  private let state: Locked<State>

  init(_ count: Int) {
    state = Locked(State(count: count))
  }

  /// Takes a permit, which must be given back.
  ///
  /// - Throws: a `CancellationError` if the task is cancelled while it waits.
  func take() async throws {
    let promise = Promise<Bool>()
    let isFree = state.withLock { state in
      if state.count > 0 && state.waiting.isEmpty {
        state.count -= 1
        return true
      }
      state.waiting.append(promise)
      return false
    }
    guard !isFree else { return }
    let isMine = await withTaskCancellationHandler {
      await promise.value()
    } onCancel: {
      promise.provide(false)
    }
    guard isMine else { throw CancellationError() }
  }

  /// Gives a permit back: the first that still waits gets it.
  func give() {
    while let next = state.withLock({ $0.next() }) {
      if next.provide(true) { return }
    }
  }
}
