// Sends requests.

internal import DarwinNotifySupport

extension HandlerBus {
  /// Sends a request and waits for the answer.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the destination. Without one, the request goes to handlers that were
  ///     registered without one.
  ///   - timeout: how long to wait for interceptors and handlers together; `nil` to wait forever.
  /// - Returns: the response of the handler.
  /// - Throws: the ``BusRequest/Failure`` that the handler has thrown, and every case of
  ///   ``BusError``. When the timeout expires or the task is cancelled, it throws at once; the
  ///   handler's task is cancelled, and a later answer is dropped.
  public func send<Request: BusRequest>(
    _ request: Request, to destination: Request.Destination? = nil, timeout: Duration? = nil
  ) async throws -> Request.Response {
    try await send(request, endpoint: destination?.rawValue, timeout: timeout) {
      try await self.answer($0, to: destination, $1)
    }.get(throwing: Request.Failure.self)
  }

  /// Sends a request through the interceptors to a function, which answers it: the common part of
  /// local and remote requests. The function may begin on the thread of the caller, if it
  /// `beginsHere`: it does not call code of the host there.
  package func send<Request: BusRequest>(
    _ request: Request, endpoint: String?, timeout: Duration?, beginsHere: Bool = false,
    answer: @escaping @Sendable (Request, Tracing?) async throws -> Request.Response
  ) async -> Result<Request.Response, BusError> {
    guard !Task.isCancelled else { return .failure(.cancelled) }
    let interceptors = interceptors(of: Request.self)
    return await tracers.trace(request, kind: Request.kind, endpoint) { tracing in
      await self.race(timeout, immediate: beginsHere && interceptors.isEmpty) {
        try await self.pass(request, interceptors[...]) { try await answer($0, tracing) }
      }
    }
  }

  /// Answers a request in the current task, which ends when the handler does.
  package func answer<Request: BusRequest>(_ request: Request) async throws -> Request.Response {
    let interceptors = interceptors(of: Request.self)
    return try await tracers.trace(request, kind: Request.kind, nil) { tracing in
      await catching {
        try await self.pass(request, interceptors[...]) {
          try await self.answer($0, to: nil, tracing)
        }
      }
    }.get(throwing: Request.Failure.self)
  }

  /// Passes a request to its handlers until one accepts it. The only place where a request meets
  /// its handler.
  func answer<Request: BusRequest>(
    _ request: Request, to destination: Request.Destination?, _ tracing: Tracing?
  ) async throws -> Request.Response {
    var isKnown = false
    var reasons: [String] = []
    for handler in handlers.handlers(of: Request.self) where handler.serves(destination) {
      isKnown = true
      guard handler.isAvailable() else { continue }
      do {
        tracing?.handler = handler.origin
        return try await handler.body(request)
      } catch let decline as Decline {
        tracing?.handler = nil
        reasons.append(decline.reason)
        try Task.checkCancellation()
      }
    }
    throw BusError(
      isKnown ? .unavailable : .missingHandler, kind: Request.kind,
      endpoint: destination?.rawValue, reasons: reasons)
  }

  /// Runs work until it ends, the timeout expires or the task is cancelled, whichever comes first.
  ///
  /// The work has a task of its own, since it may ignore its cancellation, and threads of its own,
  /// since it may block. Its beginning runs on this thread if it is `immediate`.
  func race<Response: Sendable>(
    _ timeout: Duration?, immediate: Bool,
    _ work: @escaping @Sendable () async throws -> Response
  ) async -> Result<Response, BusError> {
    let promise = Promise<Result<Response, BusError>>()
    let body: @Sendable () async -> Void = { _ = promise.provide(await catching(work)) }
    let task =
      immediate
      ? Task.immediate(executorPreference: HandlerThreads.shared, operation: body)
      : Task(executorPreference: HandlerThreads.shared, operation: body)
    let timer = timeout.map { timeout in
      Timeout(after: timeout) {
        if promise.provide(.failure(.timedOut)) { task.cancel() }
      }
    }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await promise.value()
    } onCancel: {
      if promise.provide(.failure(.cancelled)) { task.cancel() }
    }
  }
}

extension Result where Failure == BusError {
  /// Returns the response, or throws the error: as it was thrown, if it is of a type that the
  /// request declares.
  package func get<Declared: Error>(throwing type: Declared.Type) throws -> Success {
    if case .failure(let error) = self, error.code == .failed,
      let declared = error.underlying as? Declared
    {
      throw declared
    }
    return try get()
  }
}

/// Turns the errors that work throws into errors of a bus.
private func catching<Response>(
  _ work: () async throws -> Response
) async -> Result<Response, BusError> {
  do {
    return .success(try await work())
  } catch {
    return .failure(BusError(error))
  }
}
