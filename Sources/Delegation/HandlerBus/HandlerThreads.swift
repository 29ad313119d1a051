// Runs handlers where they keep nothing else waiting.

internal import DarwinNotifySupport
internal import Dispatch

/// Runs the jobs of handlers, each on a thread of its own while it runs.
///
/// A handler may block, as one that calls C does. On the cooperative pool, which has no more
/// threads than the machine has processors, a few such handlers would stop the whole program,
/// including the code that waits for their answers, and its timeouts.
package final class HandlerThreads: TaskExecutor {
  package static let shared = HandlerThreads()

  /// Serial queues without work. Each gets a thread as soon as it has work.
  private let idle = Locked<[DispatchQueue]>([])

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let queue =
      idle.withLock { $0.popLast() } ?? DispatchQueue(label: "darwinnotify.delegation.handler")
    queue.async {
      job.runSynchronously(on: self.asUnownedTaskExecutor())
      self.idle.withLock { $0.append(queue) }
    }
  }
}

/// Calls a function after a delay, on a thread that no handler occupies, unless it is cancelled.
package struct Timeout {
  private static let queue = DispatchQueue(label: "darwinnotify.delegation.timeouts")

  private let timer = DispatchSource.makeTimerSource(queue: Self.queue)

  package init(after duration: Duration, _ body: @escaping @Sendable () -> Void) {
    timer.setEventHandler(handler: body)
    timer.schedule(deadline: .now() + duration / .seconds(1))
    timer.activate()
  }

  /// Releases everything that the function holds.
  package func cancel() {
    timer.cancel()
  }
}
