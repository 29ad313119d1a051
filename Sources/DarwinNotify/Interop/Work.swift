// Wraps the work that C hands to an executor.

internal import CDarwinNotify

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
