// Recognizes the places of deliveries.

internal import DarwinNotifySupport
internal import Dispatch

/// The place where a delivery runs handlers.
struct DeliveryPlace: Sendable {
  /// What makes two deliveries the same place. Functions cannot be compared, so all loops are one.
  private enum Identity: Hashable {
    case queue(QueueIdentity)
    case direct
    case executor(ObjectIdentifier)
    case actor(ObjectIdentifier)
    case loop
  }

  let lane: DeliveryLane
  private let identity: Identity
  private let executor: (any SerialExecutor)?

  /// The thread that all handlers with the delivery `.thread` share. Nothing here needs a thread of
  /// its own: a queue is one for as long as there is work.
  private static let thread = DispatchQueue(label: "darwinnotify.delegation.thread")

  init(of delivery: Delivery) {
    executor = if case .executor(let executor) = delivery { executor } else { nil }
    lane = DeliveryLane(to: delivery) { Self.thread.async(execute: $0) }
    identity =
      switch delivery {
      case .main: .queue(QueueIdentity(of: .main))
      case .queue(let queue): .queue(QueueIdentity(of: queue))
      case .thread: .queue(QueueIdentity(of: Self.thread))
      case .direct: .direct
      case .executor(let executor): .executor(ObjectIdentifier(executor))
      case .actor(let actor): .actor(ObjectIdentifier(actor))
      case .loop: .loop
      }
  }

  /// Whether the calling code runs at the place. Nothing is known of an actor or a loop.
  var isCurrent: Bool {
    switch identity {
    case .direct: true
    case .queue(let queue): queue.isCurrent
    case .executor: executor?.isIsolatingCurrentContext() == true
    case .actor, .loop: false
    }
  }

  /// An executor for the parts of asynchronous methods that have no isolation of their own; `nil`
  /// where they may run anywhere.
  var taskExecutor: (any TaskExecutor)? {
    switch identity {
    case .direct, .actor: nil
    case .executor: executor as? any TaskExecutor
    case .queue, .loop: LaneExecutor(lane: lane)
    }
  }
}

extension DeliveryPlace: Equatable {
  static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }
}

/// Runs the jobs of tasks at the place of a delivery.
private final class LaneExecutor: TaskExecutor {
  private let lane: DeliveryLane

  init(lane: DeliveryLane) {
    self.lane = lane
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.enqueue { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
