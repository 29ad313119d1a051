// Ends a wait exactly once.

public import DarwinNotifySupport

/// A value that one task waits for and that anybody may provide.
///
/// The first value counts. A value provided before anybody waits is kept.
@usableFromInline final class Promise<Value: Sendable>: Sendable {
  @usableFromInline enum State {
    case empty
    case waiting(UnsafeContinuation<Value, Never>)
    case provided(Value)
    case finished
  }

  @usableFromInline let state: Locked<State>

  @inlinable init() {
    state = Locked(.empty)
  }

  /// Provides the value. Returns false if there was one already.
  @inlinable @discardableResult func provide(_ value: Value) -> Bool {
    let (waiting, isFirst) = state.withLock { state in
      switch state {
      case .empty:
        state = .provided(value)
        return (nil as UnsafeContinuation<Value, Never>?, true)
      case .waiting(let continuation):
        state = .finished
        return (continuation, true)
      case .provided, .finished:
        return (nil, false)
      }
    }
    waiting?.resume(returning: value)
    return isFirst
  }

  /// Waits for the value, once. Whoever cancels the task must provide a value.
  @inlinable func value() async -> Value {
    await withUnsafeContinuation { continuation in
      let value = state.withLock { state -> Value? in
        guard case .provided(let value) = state else {
          state = .waiting(continuation)
          return nil
        }
        state = .finished
        return value
      }
      if let value { continuation.resume(returning: value) }
    }
  }
}

/// The duty to keep a promise: if it is dropped without a value, the promise gets a default.
final class Duty<Value: Sendable>: Sendable {
  private let promise: Promise<Value>
  private let fallback: Value

  init(to promise: Promise<Value>, orElse fallback: Value) {
    self.promise = promise
    self.fallback = fallback
  }

  deinit {
    promise.provide(fallback)
  }

  /// Provides the value. Returns false if there was one already.
  @discardableResult func fulfil(_ value: Value) -> Bool {
    promise.provide(value)
  }
}
