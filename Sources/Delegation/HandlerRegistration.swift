// Ends registrations.

// An alias would hide the cases of `Delivery` from files that import only this module.
@_exported public import DarwinNotifySupport

/// A registration, which lasts until it is cancelled, even if this value is dropped.
public struct HandlerRegistration: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  /// Ends the registration: no call starts after that. Calling it again has no effect.
  ///
  /// It may be called on any thread, even by what was registered, and waits for no call.
  public func cancel() {
    end()
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
