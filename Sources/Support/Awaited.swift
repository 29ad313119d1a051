// Lets a task wait for what another thread does.

/// A value protected by a lock, with at most one task that waits for it to change.
///
/// The continuation only wakes the task, which then finds what it waited for in the value. If a
/// continuation passes a result and is resumed before its task waits, the thread sanitizer reports
/// a race, in any program.
@usableFromInline package final class Awaited<Value: Sendable>: Sendable {
  @usableFromInline struct State {
    @usableFromInline var value: Value
    /// Unsafe, because checking takes a third of the time of an event. Each is resumed once, as it
    /// is taken from here.
    @usableFromInline var waiting: UnsafeContinuation<Void, Never>?

    @inlinable init(value: Value) {
      self.value = value
    }
  }

  @usableFromInline let state: Locked<State>

  @inlinable package init(_ value: Value) {
    state = Locked(State(value: value))
  }

  /// Changes the value while holding the lock, and wakes the task that waits.
  @inlinable package func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    let (result, waiting) = state.withLock { state in
      (body(&state.value), state.waiting.take())
    }
    waiting?.resume()
    return result
  }

  /// Changes the value while holding the lock, without waking the task: for callers that hold a
  /// lock of their own. They call ``wake()`` without it.
  @inlinable package func changeQuietly(_ body: (inout Value) -> Void) {
    state.withLock { body(&$0.value) }
  }

  /// Wakes the task that waits, whether or not the value has changed.
  @inlinable package func wake() {
    change { _ in }
  }

  /// Returns at once if the value is ready; otherwise waits for the next change.
  @inlinable package func wait(
    isolation: isolated (any Actor)? = #isolation, until isReady: (Value) -> Bool
  ) async {
    await withUnsafeContinuation(isolation: isolation) { continuation in
      let isOver = state.withLock { state in
        if isReady(state.value) { return true }
        precondition(state.waiting == nil, "two tasks wait for the same thing")
        state.waiting = continuation
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Waits as ``wait(isolation:until:)`` does, but a task on the main actor is woken on the given
  /// executor, usually that of the thread that wakes it.
  ///
  /// The task would otherwise be woken on a thread of the pool, and go to the main thread from
  /// there. This is not done for other actors, whose tasks would stay on the executor afterwards.
  @inlinable package func wait(
    isolation: isolated (any Actor)?, wokenOn executor: (any TaskExecutor)?,
    until isReady: (Value) -> Bool
  ) async {
    guard let executor, isolation === MainActor.shared, !state.withLock({ isReady($0.value) })
    else {
      return await wait(isolation: isolation, until: isReady)
    }
    await withTaskExecutorPreference(executor, isolation: isolation) {
      await wait(isolation: isolation, until: isReady)
    }
  }
}
