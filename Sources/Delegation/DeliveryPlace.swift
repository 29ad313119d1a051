// Compares the places of deliveries.

internal import DarwinNotifySupport
internal import Dispatch

/// The place where a delivery runs handlers.
struct DeliveryPlace: Sendable {
  /// Identifies a place. Functions cannot be compared, so all loops are one place.
  private enum Identity: Hashable {
    case inline, thread, loop
    case object(ObjectIdentifier)
    /// Each access to one of the system's queues creates a new object.
    case system(label: String)
  }

  let executor: DeliveryExecutor
  private let identity: Identity

  /// An executor for the parts of asynchronous methods that have no isolation; `nil` if they may
  /// run anywhere.
  let taskExecutor: (any TaskExecutor)?

  /// Stands for the thread of the delivery `.thread`: nothing here needs a real one.
  private static let thread = DispatchQueue(label: "darwinnotify.delegation.thread")

  init(of delivery: Delivery) {
    executor = DeliveryExecutor(to: delivery) { Self.thread.async(execute: $0) }
    let anywhere = DeliveryTaskExecutor(executor: executor)
    (identity, taskExecutor) =
      switch delivery {
      case .main: (Self.identity(of: .main), anywhere)
      case .queue(let queue): (Self.identity(of: queue), anywhere)
      case .thread: (.thread, anywhere)
      case .inline: (.inline, nil)
      case .executor(let executor):
        (.object(ObjectIdentifier(executor)), executor as? any TaskExecutor)
      case .actor(let actor): (.object(ObjectIdentifier(actor)), nil)
      case .loop: (.loop, anywhere)
      }
  }

  private static func identity(of queue: DispatchQueue) -> Identity {
    queue.label.hasPrefix("com.apple.")
      ? .system(label: queue.label) : .object(ObjectIdentifier(queue))
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
