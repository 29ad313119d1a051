// Passes the states of a service on to the tasks that follow it.

internal import DarwinNotifySupport

/// A state, with the queues of its followers.
final class StateFeed<State: Equatable & Sendable>: Sendable {
  private struct Content {
    var state: State
    /// Whether the state has been set by an authoritative source.
    var hasBegun = false
    var isFinished = false
    var queues: [ObjectIdentifier: StateQueue<State>] = [:]

    mutating func set(_ new: State) {
      hasBegun = true
      guard new != state, !isFinished else { return }
      state = new
      for queue in queues.values { queue.add(new) }
    }
  }

  private let content: Locked<Content>

  init(_ state: State) {
    content = Locked(Content(state: state))
  }

  /// Sets the state, unless it was set before.
  func begin(with state: State) {
    content.withLock { if !$0.hasBegun { $0.set(state) } }
    wake()
  }

  /// Sets the state. The caller wakes the followers, without a lock.
  func set(_ state: State) {
    content.withLock { $0.set(state) }
  }

  /// Sets the last state.
  func finish(with state: State) {
    content.withLock { content in
      content.set(state)
      content.isFinished = true
      for queue in content.queues.values { queue.finish() }
    }
    wake()
  }

  /// Wakes the tasks that wait for a state.
  func wake() {
    let queues = content.withLock { Array($0.queues.values) }
    for queue in queues { queue.wake() }
  }

  /// Begins to follow, with the present state.
  func follow() -> StateRegistration<State> {
    let queue = content.withLock { content in
      let queue = StateQueue([content.state])
      if content.isFinished { queue.finish() }
      content.queues[ObjectIdentifier(queue)] = queue
      return queue
    }
    return StateRegistration(queue) { [weak self] in
      _ = self?.content.withLock { $0.queues.removeValue(forKey: ObjectIdentifier(queue)) }
    }
  }
}
