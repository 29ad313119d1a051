// Runs closures on the delivery thread of the C library.

internal import CDarwinNotify

extension DeliveryExecutor {
  /// Creates the executor of a delivery; `.thread` is the delivery thread of C.
  package convenience init(to delivery: Delivery) {
    self.init(to: delivery, thread: DeliveryThread.enqueue)
  }
}

/// The thread that all handlers with the delivery `.thread` share.
private enum DeliveryThread {
  static func enqueue(_ work: @escaping @Sendable () -> Void) {
    let thread = dn_executor_delivery_thread()
    let job = Context.retain(Job(work))
    let result = thread.enqueue(
      thread.context,
      { job in
        Context.borrow(job, as: Job.self).work()
        Context.release(job)
      }, job)
    guard result < 0 else { return }
    // The delivery thread could not be started, out of memory: run here rather than never.
    Context.borrow(job, as: Job.self).work()
    Context.release(job)
  }
}

/// A closure that travels through C.
private final class Job: Sendable {
  let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) {
    self.work = work
  }
}
