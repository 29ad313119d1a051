// Runs a function that may block on a thread of its own.

import Glibc

/// Starts a thread that ends with the function. Returns a descriptor that then becomes readable and
/// that the caller closes; `nil` if no thread can be created.
///
/// A queue of Dispatch would keep its threads, and wake the process every second to count them.
func runDetached(_ body: @escaping @Sendable () -> Void) -> CInt? {
  guard let pipe = makePipe() else { return nil }
  let job = UnsafeMutablePointer<Job>.allocate(capacity: 1)
  job.initialize(to: Job(run: body, writeEnd: pipe.writeEnd))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { argument in
      guard let job = argument?.assumingMemoryBound(to: Job.self) else { return nil }
      let (run, writeEnd) = (job.pointee.run, job.pointee.writeEnd)
      job.deinitialize(count: 1)
      job.deallocate()
      run()
      close(writeEnd)
      return nil
    }, job)
  guard result == 0 else {
    job.deinitialize(count: 1)
    job.deallocate()
    close(pipe.readEnd)
    close(pipe.writeEnd)
    return nil
  }
  pthread_detach(thread)
  return pipe.readEnd
}

private struct Job: Sendable {
  let run: @Sendable () -> Void
  let writeEnd: CInt
}
