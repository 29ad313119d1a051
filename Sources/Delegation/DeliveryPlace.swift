// Compares the places of deliveries.

internal import DarwinNotifySupport
internal import Dispatch

/// The place where a delivery runs handlers.
struct DeliveryPlace: Sendable {
  /// Identifies a place. Functions cannot be compared, so all loops are one place.
  private enum Identity: Hashable {
    case queue(QueueIdentity)
    case inline
    case executor(ObjectIdentifier)
    case actor(ObjectIdentifier)
    case loop
  }

  let executor: DeliveryExecutor
  private let identity: Identity
  private let serialExecutor: (any SerialExecutor)?

  /// Stands for the thread that all handlers with the delivery `.thread` share. Nothing here needs
  /// a real thread: a serial queue is enough.
  private static let thread = DispatchQueue(label: "darwinnotify.delegation.thread")

  init(of delivery: Delivery) {
    serialExecutor = if case .executor(let executor) = delivery { executor } else { nil }
    executor = DeliveryExecutor(to: delivery) { Self.thread.async(execute: $0) }
    identity =
      switch delivery {
      case .main: .queue(QueueIdentity(of: .main))
      case .queue(let queue): .queue(QueueIdentity(of: queue))
      case .thread: .queue(QueueIdentity(of: Self.thread))
      case .inline: .inline
      case .executor(let executor): .executor(ObjectIdentifier(executor))
      case .actor(let actor): .actor(ObjectIdentifier(actor))
      case .loop: .loop
      }
  }

  /// Whether the calling code runs at the place; false for actors and loops, where it is not known.
  var isCurrent: Bool {
    switch identity {
    case .inline: true
    case .queue(let queue): queue.isCurrent
    case .executor: serialExecutor?.isIsolatingCurrentContext() == true
    case .actor, .loop: false
    }
  }

  /// An executor for the parts of asynchronous methods that have no isolation; `nil` if they may
  /// run anywhere.
  var taskExecutor: (any TaskExecutor)? {
    switch identity {
    case .inline, .actor: nil
    case .executor: serialExecutor as? any TaskExecutor
    case .queue, .loop: DeliveryTaskExecutor(executor: executor)
    }
  }
}

extension DeliveryPlace: Equatable {
  static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }
}

/// Runs the jobs of tasks at the place of a delivery.
private final class DeliveryTaskExecutor: TaskExecutor {
  private let executor: DeliveryExecutor

  init(executor: DeliveryExecutor) {
    self.executor = executor
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    executor.enqueue { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The identity of a dispatch queue.
///
/// On Linux, values of `DispatchQueue` are wrappers, and each access to `DispatchQueue.main`
/// creates a new one. So each queue gets a mark, by which code that runs on it also recognizes it.
/// The system's global queues cannot be marked; they are recognized by their labels.
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
