// Recognizes dispatch queues.

internal import DarwinNotifySupport
internal import Dispatch

/// What makes two values of `DispatchQueue` the same queue.
///
/// On Linux these values are wrappers, and each call of `DispatchQueue.main` makes a new one. So a
/// queue gets a mark, by which the code that it runs recognizes it too. The system's global queues
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

  /// Whether the queue runs the calling code.
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
