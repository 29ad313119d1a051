// Runs closures on the delivery thread of the C library.

internal import CDarwinNotify

extension DeliveryLane {
  /// Finds the way to the place of a delivery, as C would.
  package convenience init(to delivery: Delivery) {
    self.init(to: delivery, thread: DeliveryThread.enqueue)
  }
}

/// The thread that all handlers with the delivery `.thread` share.
private enum DeliveryThread {
  static func enqueue(_ work: @escaping @Sendable () -> Void) {
    let thread = dn_executor_delivery_thread()
    let errand = Context.retain(Errand(work))
    let result = thread.enqueue(
      thread.context,
      { errand in
        Context.borrow(errand, as: Errand.self).work()
        Context.release(errand)
      }, errand)
    guard result < 0 else { return }
    // The delivery thread could not be started, for want of memory: here, rather than never.
    Context.borrow(errand, as: Errand.self).work()
    Context.release(errand)
  }
}

/// A closure on its way through C.
private final class Errand: Sendable {
  let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) {
    self.work = work
  }
}
