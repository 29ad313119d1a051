// Runs work in the isolation of a serial executor.

/// An actor that lives on the executor which work is meant for.
///
/// Tasks may reach the executor in another order than they were made in. So a task carries no
/// work; it takes what has waited longest.
actor ExecutorRelay {
  private let executor: any SerialExecutor
  private let waiting = Locked<[Work]>([])

  init(to executor: any SerialExecutor) {
    self.executor = executor
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  /// Lets a piece of work run on the executor later. Detached, so that the work sees nothing of
  /// the task that happens to post; immediate, so that the way to the executor does not wait for a
  /// thread of the pool.
  nonisolated func enqueue(_ work: Work) {
    waiting.withLock { $0.append(work) }
    Task.immediateDetached { await self.runFirst() }
  }

  private func runFirst() {
    waiting.withLock { $0.removeFirst() }.run()
  }
}
