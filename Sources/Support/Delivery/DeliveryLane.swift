// Runs closures where a delivery says.

internal import Dispatch

/// The way to the place where handlers run.
///
/// Work that goes the same way to a place that is serial runs in the order in which it came.
package final class DeliveryLane: Sendable {
  /// Takes work, and lets it run later.
  package typealias Submit = @Sendable (@escaping @Sendable () -> Void) -> Void

  private enum Way {
    case direct
    case queue(DispatchQueue)
    case actor(ActorRelay)
    case submit(Submit)
  }

  private let way: Way

  /// Finds the way to the place of a delivery.
  ///
  /// - Parameters:
  ///   - delivery: the place.
  ///   - thread: what `.thread` means; the modules have threads of their own.
  package init(to delivery: Delivery, thread: @escaping Submit) {
    way =
      switch delivery {
      case .main: .queue(.main)
      case .queue(let queue): .queue(queue)
      case .thread: .submit(thread)
      case .direct: .direct
      case .executor(let executor): .actor(ActorRelay(to: executor))
      case .actor(let actor): .actor(ActorRelay(to: actor))
      case .loop(let submit): .submit(submit)
      }
  }

  /// Whether there is no way to go: work runs before ``enqueue(_:)`` returns.
  package var runsAtOnce: Bool {
    if case .direct = way { true } else { false }
  }

  /// Lets work run there.
  package func enqueue(_ work: @escaping @Sendable () -> Void) {
    switch way {
    case .direct: work()
    case .queue(let queue): queue.async(execute: work)
    case .actor(let relay): relay.enqueue(work)
    case .submit(let submit): submit(work)
    }
  }
}
