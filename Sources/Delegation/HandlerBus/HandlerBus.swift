// Sends requests to handlers.

internal import DarwinNotifySupport

/// Sends each request to the first handler that accepts it.
///
///     let bus = HandlerBus()
///     bus.handle(ShareText.self, at: ["org.example.chat.friend"]) { "sent " + $0.text }
///     print(try await bus.send(ShareText(text: "hi"), to: "org.example.chat.friend"))
///
/// Handlers are tried by priority, then in the order of their registration. One that is not
/// available is skipped; one that throws ``Decline`` passes the request to the next one.
///
/// Every method may be called on any thread, even by handlers. Any number of requests may be in
/// progress at the same time, and each ends exactly once.
public final class HandlerBus: Sendable {
  private let current: Locked<HandlerSet>
  /// Each value is an `Interceptor` of the type that is its key; the outermost comes first.
  let interceptors = Locked<[ObjectIdentifier: [any AnyObject & Sendable]]>([:])
  let tracers = TracerTable()

  /// Creates a bus.
  ///
  /// - Parameter handlers: its initial handlers.
  public init(handlers: HandlerSet = HandlerSet()) {
    current = Locked(handlers)
  }

  /// All handlers and routes.
  ///
  /// Setting it replaces them at once: every request sees either the old ones or the new ones, and
  /// requests in progress finish with the old ones.
  public var handlers: HandlerSet {
    get { current.withLock { $0 } }
    set {
      let old = current.withLock { current in
        defer { current = newValue }
        return current
      }
      // Releases everything that the handlers hold, without the lock.
      withExtendedLifetime(old) {}
    }
  }

  /// Returns whether a handler is registered and available. It may still decline.
  ///
  /// - Parameters:
  ///   - type: the type of the request.
  ///   - destination: the destination it would be sent to.
  /// - Returns: whether there is one.
  public func canHandle<Request: BusRequest>(
    _ type: Request.Type, at destination: Request.Destination? = nil
  ) -> Bool {
    handlers.handlers(of: type).contains { $0.serves(destination) && $0.isAvailable() }
  }

  /// Answers one request.
  ///
  /// The first answer counts. If all references are dropped without one, the request fails with
  /// ``BusError/unanswered``: a request ends exactly once, whatever the handler does.
  public final class Reply<Response: Sendable>: Sendable {
    private let duty: Duty<Result<Response, any Error>>

    init(_ duty: Duty<Result<Response, any Error>>) {
      self.duty = duty
    }

    /// Answers the request. It may be called on any thread.
    ///
    /// - Parameter result: the response or an error, which may be a ``Decline``.
    /// - Returns: false if the request already has an answer, or nobody is waiting for it.
    @discardableResult public func callAsFunction(_ result: Result<Response, any Error>) -> Bool {
      duty.fulfil(result)
    }
  }
}
