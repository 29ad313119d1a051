// Converts deliveries to C executors.

internal import CDarwinNotify
internal import Dispatch

extension Delivery {
  /// The main queue as one object: C recognizes equal executors by their contexts.
  private static let mainQueue = DispatchQueue.main

  /// Calls a function with the C executor of this delivery, which C retains if it keeps it.
  func withExecutor<Result>(_ body: (UnsafePointer<dn_executor>) -> Result) -> Result {
    var executor = makeExecutor()
    defer { Context.release(executor.context) }
    return body(&executor)
  }

  /// Makes the C executor of this delivery; the caller owns its context.
  private func makeExecutor() -> dn_executor {
    switch self {
    case .main: dn_executor(queue: Self.mainQueue)
    case .queue(let queue): dn_executor(queue: queue)
    case .thread: dn_executor_delivery_thread()
    case .direct: dn_executor_inline()
    case .executor, .actor, .loop: dn_executor(executor: DeliveryExecutor(to: self))
    }
  }
}

extension dn_executor {
  /// An executor that runs work on a queue. Its context is the queue itself.
  fileprivate init(queue: DispatchQueue) {
    self.init(
      enqueue: { context, function, argument in
        let work = Work(function, argument)
        Context.borrow(context, as: DispatchQueue.self).async { work.run() }
        return 0
      },
      context: Context.retain(queue),
      retain: Context.retainAgain,
      release: Context.release
    )
  }

  /// An executor that passes work on.
  fileprivate init(executor: DeliveryExecutor) {
    self.init(
      enqueue: { context, function, argument in
        let work = Work(function, argument)
        Context.borrow(context, as: DeliveryExecutor.self).enqueue { work.run() }
        return 0
      },
      context: Context.retain(executor),
      retain: Context.retainAgain,
      release: Context.release
    )
  }
}
