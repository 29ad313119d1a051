// Carries Swift objects through C as context pointers.

internal import CDarwinNotify

/// A Swift object on its way through C: retained where it is handed over, released by the destroy
/// hook that travels with it.
enum Context {
  /// Hands an object over to C. It lives until ``release(_:)``.
  static func retain(_ object: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(object).toOpaque()
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

/// A handler together with the name that it is registered for.
private final class HandlerBox: Sendable {
  let name: NotificationName
  let handler: @Sendable (NotificationEvent) -> Void

  init(_ name: NotificationName, _ handler: @escaping @Sendable (NotificationEvent) -> Void) {
    self.name = name
    self.handler = handler
  }
}

extension dn_handler {
  /// Makes the C form of a handler, which has to be handed to C: it owns a reference.
  init(
    for name: NotificationName, _ handler: @escaping @Sendable (NotificationEvent) -> Void
  ) {
    self.init(
      invoke: { event, context in
        let box = Context.borrow(context, as: HandlerBox.self)
        let coalesced = event.map { Int(clamping: $0.pointee.n_posts) } ?? 1
        box.handler(NotificationEvent(name: box.name, coalesced: coalesced))
      },
      context: Context.retain(HandlerBox(name, handler)),
      destroy: Context.release
    )
  }
}
