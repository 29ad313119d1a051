// Holds the implementation of a contract.

/// The implementation of a contract, held strongly or weakly.
@usableFromInline final class Implementation<Contract: Sendable>: Sendable {
  @usableFromInline let value: Contract?
  @usableFromInline nonisolated(unsafe) weak let object: AnyObject?
  // It never changes. Implementations are `Sendable`, which `AnyObject` does not express.

  init(_ value: Contract) {
    self.value = value
    object = nil
  }

  /// Holds an object weakly.
  init(weak value: Contract) throws(FacadeError) {
    guard type(of: value as Any) is AnyClass else {
      throw .notAnObject(type: String(reflecting: type(of: value as Any)))
    }
    self.value = nil
    object = value as AnyObject
  }

  /// The implementation, unless it is gone. Do not read it under a lock: for a moment the caller
  /// may have the last reference.
  @inlinable var current: Contract? { value ?? (object as? Contract) }
}
