// Holds delegates and implementations.

/// A value that is held strongly, or an object that is held weakly.
@usableFromInline final class Holder<Value: Sendable>: Sendable {
  @usableFromInline let value: Value?
  @usableFromInline nonisolated(unsafe) weak let object: AnyObject?
  // It never changes. Values are `Sendable`, which `AnyObject` does not express.

  init(_ value: Value) {
    self.value = value
    object = nil
  }

  /// Holds an object weakly.
  init(weak value: Value) throws {
    guard type(of: value as Any) is AnyClass else {
      throw DelegationError(.notAnObject, type(of: value as Any))
    }
    self.value = nil
    object = value as AnyObject
  }

  /// The value, unless it is gone. Do not read it under a lock: for a moment the caller may have
  /// the last reference.
  @inlinable var current: Value? { value ?? (object as? Value) }
}
