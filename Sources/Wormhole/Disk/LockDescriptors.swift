// Keeps the descriptors of locks from forked children.

internal import Glibc
internal import Synchronization

/// The descriptors of the files that this process locks.
///
/// The lock of an open file lasts as long as any process has the file open. So a forked child that
/// lives on would hold the locks of a parent that has ended: it closes them as it begins.
enum LockDescriptors {
  /// A slot for a descriptor. It is never freed, only reused: a child may be looking.
  private struct Slot: ~Copyable {
    let descriptor: Atomic<CInt>
    let next: UnsafeMutablePointer<Slot>?
  }

  private static let free: CInt = -1
  private nonisolated(unsafe) static let first = Atomic<UnsafeMutablePointer<Slot>?>(nil)
  // What it leads to is changed under the lock, or atomically.

  /// Held while a descriptor is open, but not known here yet. A fork waits for that.
  private nonisolated(unsafe) static let lock: UnsafeMutablePointer<pthread_mutex_t> = {
    // A lock is made for several threads.
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    pthread_atfork(
      { pthread_mutex_lock(LockDescriptors.lock) }, { pthread_mutex_unlock(LockDescriptors.lock) },
      {
        LockDescriptors.closeAll()
        pthread_mutex_unlock(LockDescriptors.lock)
      })
    return lock
  }()

  /// Opens a file, which ``close(_:)`` closes.
  static func open(_ path: String, _ flags: CInt) -> CInt {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    let descriptor = Glibc.open(path, flags, 0o600)
    if descriptor >= 0 { add(descriptor) }
    return descriptor
  }

  static func close(_ descriptor: CInt) {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    find(descriptor)?.pointee.descriptor.store(free, ordering: .relaxed)
    // In the middle of a fork the child would not know it.
    Glibc.close(descriptor)
  }

  private static func add(_ descriptor: CInt) {
    if let slot = find(free) {
      slot.pointee.descriptor.store(descriptor, ordering: .relaxed)
    } else {
      let slot = UnsafeMutablePointer<Slot>.allocate(capacity: 1)
      slot.initialize(
        to: Slot(descriptor: Atomic(descriptor), next: first.load(ordering: .relaxed)))
      first.store(slot, ordering: .releasing)
    }
  }

  private static func find(_ descriptor: CInt) -> UnsafeMutablePointer<Slot>? {
    var slot = first.load(ordering: .acquiring)
    while let found = slot {
      if found.pointee.descriptor.load(ordering: .relaxed) == descriptor { return found }
      slot = found.pointee.next
    }
    return nil
  }

  /// Runs in a forked child, which has one thread.
  private static func closeAll() {
    var slot = first.load(ordering: .acquiring)
    while let found = slot {
      let descriptor = found.pointee.descriptor.exchange(free, ordering: .relaxed)
      if descriptor != free { Glibc.close(descriptor) }
      slot = found.pointee.next
    }
  }
}
