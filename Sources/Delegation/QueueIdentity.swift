// Compares dispatch queues.

internal import DarwinNotifySupport
internal import Dispatch

/// The identity of a dispatch queue.
///
/// On Linux, values of `DispatchQueue` are wrappers, and each access to `DispatchQueue.main`
/// creates a new one. So each queue gets a mark, by which code that runs on it recognizes it, too.
/// The system's global queues cannot be marked; they are recognized by their labels.
/// take none; they are known by their labels.
enum QueueIdentity: Hashable {
  case marked(Int)
  case system(label: String)

  private static let key = DispatchSpecificKey<Int>()
  private static let marks = Locked(0)

  init(of queue: DispatchQueue) {
    if queue.label.hasPrefix("com.apple.root.") {
      self = .system(label: queue.label)
    } else {
      self = .marked(Self.mark(queue))
    }
  }

  /// Whether the calling code runs on the queue.
  var isCurrent: Bool {
    if case .marked(let mark) = self {
      DispatchQueue.getSpecific(key: Self.key) == mark
    } else {
      false
    }
  }

  private static func mark(_ queue: DispatchQueue) -> Int {
    marks.withLock { last in
      if let mark = queue.getSpecific(key: key) { return mark }
      last += 1
      queue.setSpecific(key: key, value: last)
      return last
    }
  }
}
