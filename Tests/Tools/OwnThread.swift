// Runs a task on a thread of its own.
internal import Dispatch

/// Keeps a task that waits from taking one of the few threads that all tests share, and what it
/// measures from including the wait for such a thread.
package final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "com.example.own")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
