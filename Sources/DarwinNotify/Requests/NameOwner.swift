// Gives the module above access to the owners of names on the bus.

internal import CDarwinNotify

/// Who owns a name on a bus. The corresponding C type is `dn_owner`.
package enum NameOwner: Sendable {
  /// There is no bus at present.
  case notConnected
  case nobody
  /// The connection with a name.
  case connection(String)

  /// Copies an owner that C lends.
  fileprivate init(_ owner: dn_owner) {
    self =
      if let connection = owner.connection {
        .connection(String(cString: connection))
      } else {
        owner.is_on_bus ? .nobody : .notConnected
      }
  }
}

extension DarwinNotificationCenter {
  /// Calls a handler with the owner of a name, then for each change, until the observation ends.
  /// The corresponding C function is `dn_center_observe_owner`.
  package func observeOwner(
    of name: String, on delivery: Delivery, _ handler: @escaping @Sendable (NameOwner) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    try withCString(name) { (name) throws(DarwinNotifyError) in
      let handler = dn_owner_handler(handler)
      try check(
        delivery.withExecutor { executor in
          withUnsafePointer(to: handler) {
            dn_center_observe_owner(center, name, $0, executor, &observer)
          }
        })
    }
    return NotificationObservation(adoptingRegistered: observer)
  }
}

extension dn_owner_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  fileprivate init(_ handler: @escaping @Sendable (NameOwner) -> Void) {
    self.init()
    invoke = { owner, context in
      guard let owner else { preconditionFailure("C lost an owner") }
      Context.borrow(context, as: HandlerBox<NameOwner>.self).handler(NameOwner(owner.pointee))
    }
    context = Context.retain(HandlerBox(handler))
    destroy = Context.release
  }
}
