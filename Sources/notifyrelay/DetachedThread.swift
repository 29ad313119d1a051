// Runs a function that may block on a thread of its own.

import Glibc

/// Starts a thread that ends with the function. Returns a descriptor from which `readResult` gets
/// what the function returns; `nil` if there can be no thread.
///
/// A queue of Dispatch would keep its threads, and wake the process every second to count them.
func runDetached(_ body: @escaping @Sendable () -> (CInt, CInt)) -> CInt? {
  var ends: [CInt] = [-1, -1]
  guard pipe(&ends) == 0 else { return nil }
  for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  let job = UnsafeMutablePointer<Job>.allocate(capacity: 1)
  job.initialize(to: Job(run: body, writeEnd: ends[1]))
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
    for end in ends { close(end) }
    return nil
  }
  pthread_detach(thread)
  return ends[0]
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
