// Ends a wait exactly once.

/// A value that one task waits for and that anybody may provide.
///
/// The first value counts. A value provided before anybody waits is kept.
@usableFromInline package final class Promise<Value: Sendable>: Sendable {
  @usableFromInline enum State: Sendable {
    case empty
    case provided(Value)

    /// The task has the value, which does not live longer than it needs it.
    case taken

    @inlinable var isEmpty: Bool { if case .empty = self { true } else { false } }
  }

  @usableFromInline let state = Awaited(State.empty)

  @inlinable package init() {}

  /// Provides the value. Returns false if there was one already.
  ///
  /// The value is moved into the promise: the task that gets it may be the only one that holds it.
  @discardableResult @inlinable package func provide(_ value: consuming Value) -> Bool {
    var provided = State.provided(value)
    return state.change { state in
      guard state.isEmpty else { return false }
      swap(&state, &provided)
      return true
    }
  }

  /// Waits for the value, once. The code that cancels the task must provide a value.
  @inlinable package func value() async -> Value {
    while true {
      await state.wait { !$0.isEmpty }
      if let value = take() { return value }
    }
  }

  /// Takes the value out, if it was provided.
  @inlinable func take() -> Value? {
    state.change { state in
      switch state {
      case .empty: return nil
      case .provided(let value):
        state = .taken
        return value
      case .taken: preconditionFailure("a value is waited for twice")
      }
    }
  }
}
