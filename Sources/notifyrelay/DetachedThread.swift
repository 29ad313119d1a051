// Runs a function that may block on a thread of its own.

import Glibc

/// Starts a thread that ends with the function. Returns whether that was possible.
///
/// A queue of Dispatch would keep its threads, and wake the process every second to count them.
nonisolated func runDetached(_ body: @escaping @Sendable () -> Void) -> Bool {
  let job = UnsafeMutablePointer<Job>.allocate(capacity: 1)
  job.initialize(to: Job(run: body))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { argument in
      let job = argument?.assumingMemoryBound(to: Job.self)
      job?.pointee.run()
      job?.deinitialize(count: 1)
      job?.deallocate()
      return nil
    }, job)
  guard result == 0 else {
    job.deinitialize(count: 1)
    job.deallocate()
    return false
  }
  pthread_detach(thread)
  return true
}

nonisolated private struct Job: Sendable {
  let run: @Sendable () -> Void
}
