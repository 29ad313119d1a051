// Keeps a file open between two uses.

internal import DarwinNotifySupport
internal import Glibc
internal import Synchronization

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
