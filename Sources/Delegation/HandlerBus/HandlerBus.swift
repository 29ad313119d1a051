// Keeps what a bus needs to answer requests.

internal import DarwinNotifySupport

/// Sends each request to the first handler that is able and willing.
///
///     let bus = HandlerBus()
///     bus.handle(ShareText.self, at: "org.example.chat.friend") { "sent " + $0.text }
///     print(try await bus.send(ShareText(text: "hi"), to: "org.example.chat.friend"))
///
/// Handlers are asked by priority, then in the order in which they were registered. One that is not
/// available is left out; one that throws ``Decline`` lets the next one have the request.
///
/// Every method may be called on any thread, also by handlers. Any number of requests may be on
/// their way at the same time, and each ends exactly once.
public final class HandlerBus: Sendable {
  private let current: Locked<HandlerSet>
  @usableFromInline let interceptors = InterceptorTable()
  @usableFromInline let tracers = TracerTable()

  /// Makes a bus.
  ///
  /// - Parameter handlers: its handlers to begin with.
  public init(handlers: HandlerSet = HandlerSet()) {
    current = Locked(handlers)
  }

  /// All handlers and routes.
  ///
  /// Setting it replaces them at once: every request sees either the old ones or the new ones, and
  /// those that are on their way end with the old ones.
  public var handlers: HandlerSet {
    get { current.withLock { $0 } }
    set {
      let old = current.withLock { current in
        defer { current = newValue }
        return current
      }
      // What the handlers hold is let go here, without the lock.
      withExtendedLifetime(old) {}
    }
  }

  /// Tells whether a handler is there and available. Whether it would decline is not known before.
  ///
  /// - Parameters:
  ///   - type: the type of the request.
  ///   - destination: what it would be sent to.
  /// - Returns: whether one is.
  public func canHandle<Request: BusRequest>(
    _ type: Request.Type, at destination: Request.Destination? = nil
  ) -> Bool {
    handlers.handlers(of: type).contains { $0.serves(destination) && $0.isAvailable() }
  }
}
