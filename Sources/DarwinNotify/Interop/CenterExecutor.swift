// Runs the jobs of tasks on the thread that reads the shared table.

internal import CDarwinNotify
internal import Dispatch

/// The task executor of a center.
///
/// It owns the C center, which stays open as long as jobs may still come: each task keeps its
/// executor.
final class CenterExecutor: TaskExecutor {
  nonisolated(unsafe) let center: OpaquePointer
  // The pointer never changes. C accepts it on any thread.

  /// Takes over one reference.
  init(adopting center: OpaquePointer) {
    self.center = center
  }

  deinit {
    closeInBackground(center)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let visit = Visit(UnownedJob(job), to: self)
    let context = Context.retain(visit)
    let result = dn_center_enqueue(
      center,
      { context in
        Context.borrow(context, as: Visit.self).run()
        Context.release(context)
      }, context)
    guard result < 0 else { return }
    // There is no such thread, for example without memory: run elsewhere rather than never.
    Context.release(context)
    DispatchQueue.global().async { visit.run() }
  }
}

/// A job on its way through C, with its executor, which must outlive it.
private final class Visit: Sendable {
  private let job: UnownedJob
  private let executor: CenterExecutor

  init(_ job: UnownedJob, to executor: CenterExecutor) {
    self.job = job
    self.executor = executor
  }

  func run() {
    job.runSynchronously(on: executor.asUnownedTaskExecutor())
  }
}
