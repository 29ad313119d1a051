// Runs a function on a thread of its own.

internal import Glibc

/// Starts a thread that runs a function and ends. Returns whether it could be started.
///
/// A queue of Dispatch would keep its threads, and wake the process every second to count them.
///
/// The thread takes no signals but those of its own faults: they belong to the host, which may have
/// chosen a thread for them. The thread sanitizer loses a signal that arrives at the end of one.
package func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
  let job = UnsafeMutablePointer<Job>.allocate(capacity: 1)
  job.initialize(to: body)
  var (all, before, thread) = (sigset_t(), sigset_t(), pthread_t())
  sigfillset(&all)
  for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS] { sigdelset(&all, fault) }
  // A thread inherits the mask of its creator.
  pthread_sigmask(SIG_SETMASK, &all, &before)
  let result = pthread_create(&thread, nil, runThread, job)
  pthread_sigmask(SIG_SETMASK, &before, nil)
  guard result == 0 else {
    _ = job.move()
    job.deallocate()
    return false
  }
  pthread_detach(thread)
  return true
}

private typealias Job = @Sendable () -> Void

/// The main function of the thread, which C calls.
private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let job = argument?.assumingMemoryBound(to: Job.self) else { return nil }
  let run = job.move()
  job.deallocate()
  run()
  return nil
}
