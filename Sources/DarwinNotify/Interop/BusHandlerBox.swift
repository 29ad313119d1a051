// Carries handlers of a bus's state through C.

internal import CDarwinNotify

/// A handler of the state of a bus.
private final class BusHandlerBox: Sendable {
  let handler: @Sendable (Bool) -> Void

  init(_ handler: @escaping @Sendable (Bool) -> Void) {
    self.handler = handler
  }
}

extension dn_bus_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  private init(_ handler: @escaping @Sendable (Bool) -> Void) {
    self.init(
      invoke: { _, isOnBus, context in
        Context.borrow(context, as: BusHandlerBox.self).handler(isOnBus != 0)
      },
      context: Context.retain(BusHandlerBox(handler)),
      destroy: Context.release
    )
  }

  /// Calls a handler with the state of a center's bus, then for each change, until the observation
  /// ends. The corresponding C function is `dn_center_observe_bus`.
  static func observe(
    _ center: OpaquePointer, on delivery: Delivery, _ handler: @escaping @Sendable (Bool) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    let handler = dn_bus_handler(handler)
    try check(
      delivery.withExecutor { dn_center_observe_bus(center, handler, $0, &observer) })
    return NotificationObservation(adoptingRegistered: observer)
  }
}
