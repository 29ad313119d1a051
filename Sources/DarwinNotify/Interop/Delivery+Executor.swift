// Turns the choices of delivery into C executors.

internal import CDarwinNotify
internal import Dispatch

extension Delivery {
  /// The main queue as one object: C recognizes equal executors by their contexts.
  private static let mainQueue = DispatchQueue.main

  /// Makes the C form of the choice, which has to be handed to C: it may own a reference.
  func makeExecutor() -> dn_executor {
    switch self {
    case .main: dn_executor(queue: Self.mainQueue)
    case .queue(let queue): dn_executor(queue: queue)
    case .thread: dn_executor_delivery_thread()
    case .direct: dn_executor_inline()
    case .executor(let executor): dn_executor(relay: Relay(to: executor))
    case .loop(let submit): dn_executor(relay: Relay(to: submit))
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
      destroy: Context.release
    )
  }

  /// An executor that passes work on.
  fileprivate init(relay: Relay) {
    self.init(
      enqueue: { context, function, argument in
        Context.borrow(context, as: Relay.self).enqueue(Work(function, argument))
        return 0
      },
      context: Context.retain(relay),
      destroy: Context.release
    )
  }
}
