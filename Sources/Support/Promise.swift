// Ends a wait exactly once.

/// A value that one task waits for and that anybody may provide.
///
/// The first value counts. A value provided before anybody waits is kept.
@usableFromInline package final class Promise<Value: Sendable>: Sendable {
  private let provided = Awaited<Value?>(nil)

  @usableFromInline package init() {}

  /// Provides the value. Returns false if there was one already.
  @usableFromInline @discardableResult package func provide(_ value: Value) -> Bool {
    provided.change { provided in
      guard provided == nil else { return false }
      provided = value
      return true
    }
  }

  /// Waits for the value, once. Whoever cancels the task must provide a value.
  @usableFromInline package func value() async -> Value {
    while true {
      await provided.wait { $0 != nil }
      if let value = provided.change({ $0 }) { return value }
    }
  }
}
