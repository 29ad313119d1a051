// Keeps a file open between two uses.

internal import DarwinNotify
internal import Foundation
internal import Synchronization

/// At most one open file, for whoever needs it next.
///
/// A file that is kept is used by nobody: two threads that need one at a time get two, which
/// exclude each other by their locks.
final class DescriptorKeeper: Sendable {
  private struct Kept {
    let descriptor: CInt
    let process: pid_t
  }

  private let kept = Locked<Kept?>(nil)

  /// How many files all keepers keep. A process with a thousand names has better use for its
  /// descriptors.
  private static let count = Atomic<Int>(0)
  private static let mostKept = 64

  deinit {
    if let descriptor = take() { close(descriptor) }
  }

  /// Takes the file, if there is one. That of a parent process, whose locks a child would share, is
  /// none.
  func take() -> CInt? {
    guard let kept = kept.withLock({ $0.take() }) else { return nil }
    Self.count.subtract(1, ordering: .relaxed)
    guard kept.process == getpid() else {
      close(kept.descriptor)
      return nil
    }
    return kept.descriptor
  }

  /// Keeps a file, or closes it if there is one already, or too many elsewhere.
  func keep(_ descriptor: CInt) {
    let isKept = kept.withLock { kept in
      guard kept == nil, Self.count.load(ordering: .relaxed) < Self.mostKept else { return false }
      Self.count.add(1, ordering: .relaxed)
      kept = Kept(descriptor: descriptor, process: getpid())
      return true
    }
    if !isKept { close(descriptor) }
  }
}
