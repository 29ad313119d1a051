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
    case .thread: dn_executor_delivery_thread().pointee
    case .inline: dn_executor_inline().pointee
    case .executor, .actor, .loop: dn_executor(executor: DeliveryExecutor(to: self))
    }
  }
}

extension dn_executor {
  /// An executor that runs work on a queue. Its context is the queue itself.
  fileprivate init(queue: DispatchQueue) {
    self.init()
    enqueue = { context, function, argument in
      let work = Work(function, argument)
      Context.borrow(context, as: DispatchQueue.self).async { work.run() }
      return 0
    }
    own(queue)
  }

  /// An executor that passes work on.
  fileprivate init(executor: DeliveryExecutor) {
    self.init()
    enqueue = { context, function, argument in
      let work = Work(function, argument)
      Context.borrow(context, as: DeliveryExecutor.self).enqueue { work.run() }
      return 0
    }
    own(executor)
  }

  /// Makes a retained object the context.
  private mutating func own(_ object: AnyObject) {
    context = Context.retain(object)
    retain = Context.retainAgain
    release = Context.release
  }
}

extension DeliveryExecutor {
  /// Creates the executor of a delivery; `.thread` is the delivery thread of C.
  package convenience init(to delivery: Delivery) {
    self.init(to: delivery, thread: DeliveryThread.enqueue)
  }
}

/// The thread that all handlers with the delivery `.thread` share.
private enum DeliveryThread {
  static func enqueue(_ work: @escaping @Sendable () -> Void) {
    let thread = dn_executor_delivery_thread().pointee
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

/// Work that must be run exactly once.
struct Work: @unchecked Sendable {
  // C hands each work to one executor for one run: nobody else uses the argument meanwhile.
  private let function: dn_work_fn
  private let argument: UnsafeMutableRawPointer?

  init(_ function: dn_work_fn?, _ argument: UnsafeMutableRawPointer?) {
    guard let function else { preconditionFailure("C enqueued no work") }
    self.function = function
    self.argument = argument
  }

  func run() {
    function(argument)
  }
}
