// Registers what answers requests.

internal import DarwinNotifySupport

/// Something that handlers and routes can be registered with: a ``HandlerBus`` or a ``HandlerSet``.
public protocol HandlerRegistry: Sendable {
  /// The set that they are added to.
  var handlers: HandlerSet { get }
}

extension HandlerBus: HandlerRegistry {}

extension HandlerSet: HandlerRegistry {
  /// The set itself.
  public var handlers: HandlerSet { self }
}

extension HandlerRegistry {
  /// Registers a handler.
  ///
  /// - Parameters:
  ///   - type: the type of the requests.
  ///   - destinations: their destinations. Without any, the handler takes requests to all
  ///     destinations, and requests without one.
  ///   - priority: handlers with a higher priority are tried first.
  ///   - isAvailable: whether the handler can currently answer. It is called for every request, in
  ///     the task of the request, and should be quick.
  ///   - origin: the file of the handler in the trace.
  ///   - line: the line of the handler in the trace.
  ///   - body: the handler. It may throw ``Decline`` to pass the request to the next one. It runs
  ///     in a task of its own, which is cancelled once nobody waits for the answer.
  /// - Returns: the registration.
  @discardableResult public func handle<Request: BusRequest>(
    _ type: Request.Type, at destinations: [Request.Destination] = [], priority: Int = 0,
    available isAvailable: @escaping @Sendable () -> Bool = { true },
    origin: String = #fileID, line: Int = #line,
    perform body: @escaping @Sendable (Request) async throws -> Request.Response
  ) -> HandlerRegistration {
    handlers.add(
      Handler(at: destinations, origin: "\(origin):\(line)", available: isAvailable, body),
      priority: priority)
  }

  /// Registers a handler that answers later, from a callback.
  ///
  ///     bus.handle(replyingTo: ShareText.self) { request, reply in
  ///       sdk.share(request.text) { reply($0) }
  ///     }
  ///
  /// - Parameters:
  ///   - type: the type of the requests.
  ///   - destinations: their destinations. Without any, the handler takes requests to all
  ///     destinations, and requests without one.
  ///   - priority: handlers with a higher priority are tried first.
  ///   - isAvailable: whether the handler can currently answer.
  ///   - origin: the file of the handler in the trace.
  ///   - line: the line of the handler in the trace.
  ///   - body: the handler. It is passed a separate reply for each request, and must not block.
  /// - Returns: the registration.
  @discardableResult public func handle<Request: BusRequest>(
    replyingTo type: Request.Type, at destinations: [Request.Destination] = [], priority: Int = 0,
    available isAvailable: @escaping @Sendable () -> Bool = { true },
    origin: String = #fileID, line: Int = #line,
    perform body: @escaping @Sendable (Request, HandlerBus.Reply<Request.Response>) -> Void
  ) -> HandlerRegistration {
    handle(
      type, at: destinations, priority: priority, available: isAvailable, origin: origin, line: line
    ) { request in
      let promise = Promise<Result<Request.Response, any Error>>()
      return try await withTaskCancellationHandler {
        do {
          let unanswered = BusError(.unanswered, kind: Request.kind)
          body(request, HandlerBus.Reply(Duty(to: promise, orElse: .failure(unanswered))))
        }
        return try await promise.value().get()
      } onCancel: {
        promise.provide(.failure(CancellationError()))
      }
    }
  }
}
