// Holds a delegate weakly, and returns it with its type.

/// A weak reference to an object that was passed as some protocol.
///
/// Casting an object to a protocol takes as long as the rest of a call. So the reference keeps the
/// bytes of the value it was made from, without owning what they refer to. They are read only while
/// the weak reference says that the object lives.
@usableFromInline final class DelegateReference: Sendable {
  @usableFromInline nonisolated(unsafe) weak let object: AnyObject?
  // It never changes. Delegates are `Sendable`, which `AnyObject` does not express.
  @usableFromInline nonisolated(unsafe) let bytes: UnsafeRawPointer
  // They never change.
  @usableFromInline let type: ObjectIdentifier

  /// Holds an object: a value whose dynamic type is a class.
  init<Delegate>(_ delegate: Delegate) {
    object = delegate as AnyObject
    type = ObjectIdentifier(Delegate.self)
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Delegate>.size, alignment: MemoryLayout<Delegate>.alignment)
    withUnsafeBytes(of: delegate) { value in
      UnsafeMutableRawBufferPointer(start: bytes, count: value.count).copyMemory(from: value)
    }
    self.bytes = UnsafeRawPointer(bytes)
  }

  deinit {
    bytes.deallocate()
  }

  /// The object, if it lives and has the type.
  @inlinable func get<Delegate>(as type: Delegate.Type) -> Delegate? {
    guard let object else { return nil }
    guard self.type == ObjectIdentifier(type) else { return object as? Delegate }
    return withExtendedLifetime(object) {
      bytes.assumingMemoryBound(to: Delegate.self).pointee
    }
  }
}
