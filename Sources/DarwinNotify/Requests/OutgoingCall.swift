// Gives the module above access to requests to other processes.

internal import CDarwinNotify

/// How a call has ended. The corresponding C type is `dn_outcome`.
package struct CallOutcome: Sendable {
  /// The error, with a number of `dn_outcome`; `nil` if there is a reply.
  package let error: DarwinNotifyError?
  /// The name of the D-Bus error, if it was one.
  package let errorName: String?
  package let message: String
  /// What the D-Bus error says to programs, as the value of ``CallOutcome/valueKey``.
  package let details: PropertyList?
  /// With the response as the value of ``CallOutcome/valueKey``.
  package let reply: PropertyList?

  /// The corresponding C constant is `DN_REPLY_VALUE`.
  package static let valueKey = DN_REPLY_VALUE

  /// Copies an outcome that C lends.
  fileprivate init(_ outcome: dn_outcome) {
    error = outcome.error == 0 ? nil : DarwinNotifyError(rawValue: -outcome.error)
    errorName = outcome.error_name.map { String(cString: $0) }
    message = outcome.message.map { String(cString: $0) } ?? ""
    details = PropertyList(retaining: outcome.details)
    reply = PropertyList(retaining: outcome.reply)
  }
}

/// A call in progress, which goes on without this object. The corresponding C type is `dn_call`.
package final class OutgoingCall: @unchecked Sendable {
  // The pointer never changes. C accepts it on any thread.
  private let call: OpaquePointer

  /// Maximum number of calls in progress. The corresponding C constant is `DN_CALLS_MAX`.
  package static let limit = Int(DN_CALLS_MAX)

  /// Begins a call. The function is called exactly once, on the thread that reads the bus, unless
  /// this throws. The corresponding C function is `dn_call_begin`.
  package init(
    _ kind: String, of service: String, on center: DarwinNotificationCenter,
    _ arguments: PropertyList, ended: @escaping @Sendable (CallOutcome) -> Void
  ) throws(DarwinNotifyError) {
    var begun: OpaquePointer?
    try withCString(service) { (service) throws(DarwinNotifyError) in
      try withCString(kind) { (kind) throws(DarwinNotifyError) in
        var plan = dn_call_plan()
        plan.service = service
        plan.kind = kind
        plan.arguments = arguments.list
        plan.timeout_us = .max
        var handler = dn_call_handler(ended)
        try check(
          dn_call_begin(center.center, &plan, &handler, dn_executor_inline(), &begun))
      }
    }
    guard let begun else { preconditionFailure("C returned success without a call") }
    call = begun
  }

  deinit {
    dn_call_unref(call)
  }

  /// Ends the call with `ECANCELED`. The corresponding C function is `dn_call_cancel`.
  package func cancel() {
    dn_call_cancel(call)
  }
}

extension dn_call_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  fileprivate init(_ handler: @escaping @Sendable (CallOutcome) -> Void) {
    self.init()
    ended = { outcome, context in
      guard let outcome else { preconditionFailure("C lost an outcome") }
      let box = Context.borrow(context, as: HandlerBox<CallOutcome>.self)
      box.handler(CallOutcome(outcome.pointee))
    }
    context = Context.retain(HandlerBox(handler))
    destroy = Context.release
  }
}
