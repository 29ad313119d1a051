// Runs work isolated to an actor.

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
