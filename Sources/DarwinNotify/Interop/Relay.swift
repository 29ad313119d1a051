// Passes work on to executors that C does not know.

/// Where the work of a C executor goes. It lives as long as C holds the executor.
final class Relay: Sendable {
  let enqueue: @Sendable (Work) -> Void

  /// Passes work on to a serial executor of Swift.
  init(to executor: any SerialExecutor) {
    let actor = ExecutorRelay(to: executor)
    enqueue = { actor.enqueue($0) }
  }

  /// Passes work on to an event loop of the host.
  init(to submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    enqueue = { work in submit { work.run() } }
  }
}
