// Lets actors live on a dispatch queue.
import Dispatch

/// A serial executor over a queue.
final class QueueExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "com.example.executor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }
}

/// An actor that lives there.
actor Resident {
  private let executor: QueueExecutor
  private(set) var visits = 0

  init(_ executor: QueueExecutor) {
    self.executor = executor
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func visit() {
    visits += 1
  }
}
