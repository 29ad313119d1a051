// Queues the states of a service for a task.

internal import DarwinNotifySupport

/// The states that a task has not read yet, the newest last.
///
/// States are added under the lock that orders them; the task is woken without it.
final class StateQueue<State: Sendable>: Sendable {
  private struct Content {
    var states: [State]
    var isFinished = false
  }

  /// How many states wait one by one.
  private static var limit: Int { 16 }

  private let content: Awaited<Content>

  init(_ states: [State] = []) {
    content = Awaited(Content(states: states))
  }

  /// Adds a state. The caller wakes the task.
  func add(_ state: State) {
    content.changeQuietly { content in
      guard !content.isFinished else { return }
      if content.states.count == Self.limit { content.states.removeLast() }
      content.states.append(state)
    }
  }

  /// Lets the task end once it has read all states. The caller wakes it.
  func finish() {
    content.changeQuietly { $0.isFinished = true }
  }

  /// Wakes the task that waits for a state.
  func wake() {
    content.wake()
  }

  /// Lets the task end at once.
  func cancel() {
    content.change { $0 = Content(states: [], isFinished: true) }
  }

  /// Returns the next state; `nil` if there are no more.
  func next(isolation: isolated (any Actor)?) async -> State? {
    while true {
      await content.wait(isolation: isolation) { !$0.states.isEmpty || $0.isFinished }
      let (state, isOver) = content.change { content in
        (content.states.isEmpty ? nil : content.states.removeFirst(), content.isFinished)
      }
      if state != nil || isOver { return state }
    }
  }
}
