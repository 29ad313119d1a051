// Runs closures on a delivery.

internal import Dispatch

/// The executor of a delivery.
///
/// Work that goes through one executor to a serial place runs in the order in which it was
/// enqueued.
package final class DeliveryExecutor: Sendable {
  /// Takes work and runs it later.
  package typealias Submit = @Sendable (@escaping @Sendable () -> Void) -> Void

  private enum Kind {
    case inline
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
      case .inline: .inline
      case .executor(let executor): .actor(ActorRelay(to: executor))
      case .actor(let actor): .actor(ActorRelay(to: actor))
      case .loop(let submit): .submit(submit)
      }
  }

  /// Whether work runs before ``enqueue(_:)`` returns.
  package var runsAtOnce: Bool {
    if case .inline = kind { true } else { false }
  }

  /// Runs work there.
  package func enqueue(_ work: @escaping @Sendable () -> Void) {
    switch kind {
    case .inline: work()
    case .queue(let queue): queue.async(execute: work)
    case .actor(let relay): relay.enqueue(work)
    case .submit(let submit): submit(work)
    }
  }
}

/// Hands work to an actor, in order.
///
/// Tasks may reach an actor in a different order than they were created. So a task carries no work;
/// it takes the work that has waited longest.
final class ActorRelay: Sendable {
  private let actor: any Actor
  private let waiting = Locked<[@Sendable () -> Void]>([])

  init(to actor: any Actor) {
    self.actor = actor
  }

  /// Creates a relay to a serial executor.
  convenience init(to executor: any SerialExecutor) {
    self.init(to: Resident(of: executor))
  }

  /// Runs work on the actor later. The task is detached, so that the work sees nothing of the task
  /// that happens to post, and immediate, so that reaching the actor does not wait for a thread of
  /// the pool.
  func enqueue(_ work: @escaping @Sendable () -> Void) {
    waiting.withLock { $0.append(work) }
    Task.immediateDetached { await self.runFirst(on: self.actor) }
  }

  private func runFirst(on actor: isolated any Actor) {
    let work = waiting.withLock { $0.removeFirst() }
    work()
  }
}

/// An actor that lives on an executor.
private actor Resident {
  private let executor: any SerialExecutor

  init(of executor: any SerialExecutor) {
    self.executor = executor
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }
}
