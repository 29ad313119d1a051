// Runs closures where a delivery says.

internal import CDarwinNotify

/// The way to the place where handlers run, for those that C does not call.
///
/// What goes the same way runs in the order in which it came.
package final class DeliveryLane: Sendable {
  /// Where to; `nil` for a delivery that is `.direct`.
  private let executor: Executor?

  /// Finds the way to the place of a delivery.
  package init(to delivery: Delivery) {
    executor = if case .direct = delivery { nil } else { Executor(delivery) }
  }

  /// Whether there is no way to go: work runs before ``enqueue(_:)`` returns.
  package var runsAtOnce: Bool { executor == nil }

  /// Lets work run there.
  package func enqueue(_ work: @escaping @Sendable () -> Void) {
    if let executor { executor.enqueue(work) } else { work() }
  }
}

/// Holds a C executor.
private final class Executor: @unchecked Sendable {
  // It never changes; C executors take work from any thread.
  private let executor: dn_executor

  init(_ delivery: Delivery) {
    executor = delivery.makeExecutor()
  }

  deinit {
    executor.destroy?(executor.context)
  }

  func enqueue(_ work: @escaping @Sendable () -> Void) {
    let errand = Context.retain(Errand(work))
    let result = executor.enqueue(
      executor.context,
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
