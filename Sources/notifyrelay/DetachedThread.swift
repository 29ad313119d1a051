// Runs a function that may block on a thread of its own.

import Glibc

/// Starts a thread that ends with the function. Returns a descriptor from which `readResult` gets
/// what the function returns; `nil` if there can be no thread.
///
/// A queue of Dispatch would keep its threads, and wake the process every second to count them.
func runDetached(_ body: @escaping @Sendable () -> (CInt, CInt)) -> CInt? {
  guard let pipe = makePipe() else { return nil }
  let job = UnsafeMutablePointer<Job>.allocate(capacity: 1)
  job.initialize(to: Job(run: body, writeEnd: pipe.writeEnd))
  var thread = pthread_t()
  let result = pthread_create(
    &thread, nil,
    { argument in
      guard let job = argument?.assumingMemoryBound(to: Job.self) else { return nil }
      var result = job.pointee.run()
      _ = write(job.pointee.writeEnd, &result, MemoryLayout.size(ofValue: result))
      close(job.pointee.writeEnd)
      job.deinitialize(count: 1)
      job.deallocate()
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

/// Reads what the function has returned, and closes the descriptor.
func readResult(from descriptor: CInt) -> (CInt, CInt) {
  var result: (CInt, CInt) = (-1, 0)
  _ = read(descriptor, &result, MemoryLayout.size(ofValue: result))
  close(descriptor)
  return result
}

private struct Job: Sendable {
  let run: @Sendable () -> (CInt, CInt)
  let writeEnd: CInt
}
