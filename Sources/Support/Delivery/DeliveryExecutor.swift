// Runs closures where a delivery says.

internal import Dispatch

/// The executor of a delivery.
///
/// Work that goes through one executor to a serial place runs in the order in which it was
/// enqueued.
package final class DeliveryExecutor: Sendable {
  /// Takes work and runs it later.
  package typealias Submit = @Sendable (@escaping @Sendable () -> Void) -> Void

  private enum Kind {
    case direct
    case queue(DispatchQueue)
    case actor(ActorRelay)
    case submit(Submit)
  }

  private let kind: Kind

  /// Creates the executor of a delivery.
  ///
  /// - Parameters:
  ///   - delivery: the place.
  ///   - thread: runs work on the thread that `.thread` stands for; each module has its own.
  package init(to delivery: Delivery, thread: @escaping Submit) {
    kind =
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

  /// Whether work runs before ``enqueue(_:)`` returns.
  package var runsAtOnce: Bool {
    if case .direct = kind { true } else { false }
  }

  /// Runs work there.
  package func enqueue(_ work: @escaping @Sendable () -> Void) {
    switch kind {
    case .direct: work()
    case .queue(let queue): queue.async(execute: work)
    case .actor(let relay): relay.enqueue(work)
    case .submit(let submit): submit(work)
    }
  }
}
