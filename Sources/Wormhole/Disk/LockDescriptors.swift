// Keeps the descriptors of locks from forked children.

internal import DarwinNotifySupport
internal import Glibc
internal import Synchronization

/// The descriptors of the files that this process locks.
///
/// The lock of an open file lasts as long as any process has the file open. So a forked child that
/// lives on would hold the locks of a parent that has ended: it closes them as it begins.
enum LockDescriptors {
  /// A slot for a descriptor. It is never freed, only reused: a child may be looking.
  private struct Slot: ~Copyable {
    let descriptor = Atomic<CInt>(free)
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
      slot.initialize(to: Slot(next: first.load(ordering: .relaxed)))
      slot.pointee.descriptor.store(descriptor, ordering: .relaxed)
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

/// At most one open file, ready for its next user.
///
/// A kept file has no user: two threads that need it at the same time get two descriptors, which
/// exclude each other by their locks.
final class DescriptorKeeper: Sendable {
  private struct Kept {
    let descriptor: CInt
    let process: pid_t
  }

  private let kept = Locked<Kept?>(nil)

  /// The number of files that all keepers of the process keep. A process with a thousand names
  /// needs its descriptors for other things.
  private static let count = Atomic<Int>(0)
  private static let maxCount = 64

  deinit {
    if let descriptor = take() { LockDescriptors.close(descriptor) }
  }

  /// Takes the file, if there is one. A file of the parent process is none of a forked child.
  func take() -> CInt? {
    guard let kept = kept.withLock({ $0.take() }) else { return nil }
    Self.count.subtract(1, ordering: .relaxed)
    return kept.process == getpid() ? kept.descriptor : nil
  }

  /// Keeps a file, or closes it if there is one already, or too many elsewhere.
  func keep(_ descriptor: CInt) {
    let isKept = kept.withLock { kept in
      guard kept == nil, Self.count.load(ordering: .relaxed) < Self.maxCount else { return false }
      Self.count.add(1, ordering: .relaxed)
      kept = Kept(descriptor: descriptor, process: getpid())
      return true
    }
    if !isKept { LockDescriptors.close(descriptor) }
  }
}
