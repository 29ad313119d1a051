// Passes handlers through C.

internal import CDarwinNotify

/// A Swift object that travels through C: retained when it is handed over, released by the destroy
/// hook that travels with it.
enum Context {
  /// Hands an object over to C. It lives until ``release(_:)``.
  static func retain(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(object).toOpaque()
  }

  /// Lends an object to C for the length of a call.
  static func lend(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object).toOpaque()
  }

  /// Returns the object of a context that C has not destroyed yet.
  static func borrow<Object: AnyObject>(
    _ context: UnsafeMutableRawPointer?, as type: Object.Type
  ) -> Object {
    guard let context else { preconditionFailure("C lost a context") }
    return Unmanaged<Object>.fromOpaque(context).takeUnretainedValue()
  }

  /// The retain hook of every context.
  static let retainAgain: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    guard let context else { return }
    _ = Unmanaged<AnyObject>.fromOpaque(context).retain()
  }

  /// The destroy and release hook of every context.
  static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    guard let context else { return }
    Unmanaged<AnyObject>.fromOpaque(context).release()
  }
}

/// A handler that travels through C.
final class HandlerBox<Argument>: Sendable {
  let handler: @Sendable (Argument) -> Void

  init(_ handler: @escaping @Sendable (Argument) -> Void) {
    self.handler = handler
  }
}

extension dn_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C. The handler borrows what
  /// the event points to.
  init(_ handler: @escaping @Sendable (dn_event) -> Void) {
    self.init()
    invoke = { event, context in
      guard let event else { preconditionFailure("C lost an event") }
      Context.borrow(context, as: HandlerBox<dn_event>.self).handler(event.pointee)
    }
    context = Context.retain(HandlerBox(handler))
    destroy = Context.release
  }

  /// Makes the C form of a handler for a name.
  init(
    for name: NotificationName, _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) {
    self.init { event in
      handler(
        NotificationEvent(
          name: name, coalesced: Int(clamping: event.n_posts), sender: Sender(of: event)))
    }
  }
}

extension dn_bus_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  private init(_ handler: @escaping @Sendable (Bool) -> Void) {
    self.init()
    invoke = { _, isOnBus, context in
      Context.borrow(context, as: HandlerBox<Bool>.self).handler(isOnBus)
    }
    context = Context.retain(HandlerBox(handler))
    destroy = Context.release
  }

  /// Calls a handler with the state of a center's bus, then for each change, until the observation
  /// ends. The corresponding C function is `dn_center_observe_bus`.
  static func observe(
    _ center: OpaquePointer, on delivery: Delivery, _ handler: @escaping @Sendable (Bool) -> Void
  ) throws(DarwinNotifyError) -> NotificationObservation {
    var observer: OpaquePointer?
    var handler = dn_bus_handler(handler)
    try check(
      delivery.withExecutor { dn_center_observe_bus(center, &handler, $0, &observer) })
    return NotificationObservation(adoptingRegistered: observer)
  }
}

extension dn_token_handler {
  /// Makes the C handler. It owns a reference, so it must be handed to C.
  init(_ handler: @escaping @Sendable (CInt) -> Void) {
    self.init()
    invoke = { number, context in
      Context.borrow(context, as: HandlerBox<CInt>.self).handler(number)
    }
    context = Context.retain(HandlerBox(handler))
    destroy = Context.release
  }

  /// Makes the C handler of a token. The token owns its registration, which owns the handler: the
  /// reference back does not keep the token alive.
  init(for token: NotifyToken, _ handler: @escaping @Sendable (NotifyToken) -> Void) {
    self.init { [weak token] number in
      guard let token else { return }
      token.adopt(number: number)
      handler(token)
    }
  }
}
