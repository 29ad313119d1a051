// Gives an answer when nobody else does.

internal import DarwinNotifySupport

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
