// Gives the module above access to requests of other processes.

internal import CDarwinNotify
package import DarwinNotifySupport
internal import Glibc

/// Describes a request. The corresponding C type is `dn_request_info`.
package struct RequestInfo: Sendable {
  package let id: UInt64
  package let kind: String
  package let caller: Sender

  /// Copies what C lends.
  fileprivate init(_ info: dn_request_info) {
    id = info.id
    kind = String(cString: info.kind)
    caller = Sender(info.caller.pointee)
  }
}

/// A request that waits for its answer; without one it is refused when this object ends. The
/// corresponding C type is `dn_request`.
package final class IncomingRequest: Sendable {
  package let info: RequestInfo
  package let arguments: PropertyList
  // The first answer consumes it.
  private let request: Locked<Pointer?>

  private struct Pointer: @unchecked Sendable {
    // C accepts it on any thread.
    let request: OpaquePointer
  }

  fileprivate init(_ request: OpaquePointer, _ info: dn_request_info) {
    self.info = RequestInfo(info)
    guard let arguments = PropertyList(retaining: info.arguments) else {
      preconditionFailure("C lost the arguments")
    }
    self.arguments = arguments
    self.request = Locked(Pointer(request: request))
  }

  deinit {
    refuse(RequestServer.unanswered, "The handler did not answer.")
  }

  /// Answers the request. The corresponding C function is `dn_request_answer`.
  package func answer(_ reply: PropertyList) {
    guard let request = take() else { return }
    dn_request_answer(request, reply.list)
  }

  /// Refuses the request. The corresponding C function is `dn_request_refuse`.
  package func refuse(_ error: String, _ message: String, _ details: PropertyList? = nil) {
    guard let request = take() else { return }
    dn_request_refuse(request, error, message, details?.list)
  }

  private func take() -> OpaquePointer? {
    request.withLock { $0.take() }?.request
  }
}

/// A name on a bus. It is given up when this object ends. The corresponding C type is `dn_service`.
package final class RequestServer: @unchecked Sendable {
  // The pointer never changes. C accepts it on any thread.
  private let service: OpaquePointer

  package static let unavailable = DN_ERROR_UNAVAILABLE
  package static let unanswered = DN_ERROR_UNANSWERED
  package static let cancelled = DN_ERROR_CANCELLED
  package static let timedOut = DN_ERROR_TIMED_OUT
  package static let failed = DN_ERROR_FAILED

  /// Answers the requests of a service. The corresponding C type is `dn_service_handler`.
  package struct Handler: Sendable {
    /// `nil` for callers of the same user.
    var allow: (@Sendable (RequestInfo) -> Bool)?
    var begin: @Sendable (IncomingRequest) -> Void
    /// The caller of the request with an identifier no longer waits.
    var cancel: @Sendable (UInt64) -> Void
    /// The process owns the name now, or no longer: first that it does, then each change.
    var nameChanged: @Sendable (Bool) -> Void

    package init(
      allow: (@Sendable (RequestInfo) -> Bool)?,
      begin: @escaping @Sendable (IncomingRequest) -> Void,
      cancel: @escaping @Sendable (UInt64) -> Void,
      nameChanged: @escaping @Sendable (Bool) -> Void
    ) {
      self.allow = allow
      self.begin = begin
      self.cancel = cancel
      self.nameChanged = nameChanged
    }
  }

  /// Owns a name. The corresponding C function is `dn_service_open`.
  package init(
    _ name: String, exporting kinds: [String], queueing: Bool, on center: DarwinNotificationCenter,
    delivery: Delivery, _ handler: Handler
  ) throws(DarwinNotifyError) {
    var opened: OpaquePointer?
    let result = try withCStrings([name] + kinds) { texts in
      var cHandler = dn_service_handler(handler)
      var plan = dn_service_plan()
      plan.name = texts[0]
      plan.kinds = texts + 1
      plan.options = queueing ? UInt32(DN_SERVICE_QUEUE) : 0
      return delivery.withExecutor {
        dn_service_open(center.center, &plan, &cHandler, $0, &opened)
      }
    }
    try check(result)
    guard let opened else { preconditionFailure("C returned success without a service") }
    service = opened
  }

  deinit {
    dn_service_close(service)
  }

  /// Whether the process owns the name. The corresponding C function is `dn_service_has_name`.
  package var hasName: Bool { dn_service_has_name(service) }

  /// Exports a kind. The corresponding C function is `dn_service_export`.
  package func export(_ kind: String) throws(DarwinNotifyError) {
    try withCString(kind) { (kind) throws(DarwinNotifyError) in
      try check(dn_service_export(service, kind))
    }
  }

  /// Withdraws a kind. The corresponding C function is `dn_service_unexport`.
  package func withdraw(_ kind: String) {
    dn_service_unexport(service, kind)
  }
}

private final class ServiceBox: Sendable {
  let handler: RequestServer.Handler

  init(_ handler: RequestServer.Handler) {
    self.handler = handler
  }
}

extension dn_service_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  fileprivate init(_ handler: RequestServer.Handler) {
    self.init()
    if handler.allow != nil {
      allow = { info, context in
        guard let info else { preconditionFailure("C lost a request") }
        let box = Context.borrow(context, as: ServiceBox.self)
        return box.handler.allow?(RequestInfo(info.pointee)) ?? false
      }
    }
    invoke = { request, info, context in
      guard let request, let info else { preconditionFailure("C lost a request") }
      let box = Context.borrow(context, as: ServiceBox.self)
      box.handler.begin(IncomingRequest(request, info.pointee))
    }
    cancel = { id, context in Context.borrow(context, as: ServiceBox.self).handler.cancel(id) }
    name_changed = { hasName, context in
      Context.borrow(context, as: ServiceBox.self).handler.nameChanged(hasName)
    }
    context = Context.retain(ServiceBox(handler))
    destroy = Context.release
  }
}

/// Lends texts to C, as an array that ends with a null pointer. Texts that contain NUL are refused.
private func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
) throws(DarwinNotifyError) -> Result {
  guard !texts.contains(where: { $0.utf8.contains(0) }) else { throw .invalidArgument }
  let copies = texts.map { UnsafePointer(strdup($0)) }
  defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
  return withUnsafeTemporaryAllocation(
    of: UnsafePointer<CChar>?.self, capacity: copies.count + 1
  ) { pointers in
    _ = pointers.initialize(from: copies + [nil])
    guard let start = pointers.baseAddress else { preconditionFailure("no memory") }
    return body(UnsafePointer(start))
  }
}
