// Passes work on to an event loop of the host.

/// Owns the function of ``Delivery/loop(_:)`` while C holds the executor.
final class LoopRelay: Sendable {
  private let submit: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(to submit: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    self.submit = submit
  }

  func enqueue(_ work: Work) {
    submit { work.run() }
  }
}
