// Runs actors on a dispatch queue.
package import Dispatch

/// A serial executor over a queue.
package final class QueueExecutor: SerialExecutor {
  package let queue = DispatchQueue(label: "com.example.executor")

  private static let mark = DispatchSpecificKey<ObjectIdentifier>()

  package init() {
    queue.setSpecific(key: Self.mark, value: ObjectIdentifier(self))
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  package func checkIsolated() {
    dispatchPrecondition(condition: .onQueue(queue))
  }

  package func isIsolatingCurrentContext() -> Bool? {
    DispatchQueue.getSpecific(key: Self.mark) == ObjectIdentifier(self)
  }
}

/// An actor that runs there.
package actor Resident {
  private let executor: QueueExecutor
  package private(set) var visits = 0

  package init(_ executor: QueueExecutor) {
    self.executor = executor
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    executor.asUnownedSerialExecutor()
  }

  package func visit() {
    visits += 1
  }
}
