// Guards a value with a lock that the thread sanitizer can see.

internal import Glibc

/// A value protected by a lock.
///
/// `Synchronization.Mutex` waits with system calls that the thread sanitizer does not know: it
/// reports every access guarded by such a mutex as a race, which would hide a real one. It
/// understands the mutexes of libc.
@usableFromInline package final class Locked<Value>: @unchecked Sendable {
  // The value is only accessed in `withLock`, which holds the mutex.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline var value: Value

  @usableFromInline package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs the body while holding the lock.
  @inlinable package func withLock<Result>(
    _ body: (inout sending Value) throws -> sending Result
  ) rethrows -> sending Result {
    lock()
    defer { unlock() }
    return try body(&value)
  }

  @usableFromInline func lock() {
    pthread_mutex_lock(mutex)
  }

  @usableFromInline func unlock() {
    pthread_mutex_unlock(mutex)
  }
}
