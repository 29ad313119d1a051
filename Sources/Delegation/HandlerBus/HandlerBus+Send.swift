// Sends requests.

public import DarwinNotifySupport

extension HandlerBus {
  /// Sends a request and waits for the answer.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the destination. Without one, the request goes to handlers that were
  ///     registered without one.
  ///   - timeout: how long to wait for interceptors and handlers together; `nil` to wait forever.
  /// - Returns: the response of the handler.
  /// - Throws: every case of ``BusError``. When the timeout expires or the task is cancelled, it
  ///   throws at once; the handler's task is cancelled, and a later answer is dropped.
  @inlinable public func send<Request: BusRequest>(
    _ request: Request, to destination: Request.Destination? = nil, timeout: Duration? = nil
  ) async throws(BusError) -> Request.Response {
    try await send(request, endpoint: destination?.rawValue, timeout: timeout) {
      try await self.answer($0, to: destination, $1)
    }
  }

  /// Sends a request through the interceptors to a function, which answers it: the common part of
  /// local and remote requests. The function may begin on the thread of the caller, if it
  /// `beginsHere`: it does not call code of the host there.
  @usableFromInline package func send<Request: BusRequest>(
    _ request: Request, endpoint: String?, timeout: Duration?, beginsHere: Bool = false,
    answer: @escaping @Sendable (Request, Tracing?) async throws -> Request.Response
  ) async throws(BusError) -> Request.Response {
    guard !Task.isCancelled else { throw .cancelled }
    let tracing = tracers.begin()
    let interceptors = interceptors.all
    let result = await race(timeout, immediate: beginsHere && interceptors.isEmpty) {
      () async -> Result<Request.Response, BusError> in
      do {
        return .success(try await self.pass(request, interceptors[...], tracing, answer: answer))
      } catch {
        return .failure(BusError(error))
      }
    }
    tracing?.end(Request.kind, endpoint, request, result.map { $0 })
    return try result.get()
  }

  /// Answers a request in the current task, which ends when the handler does.
  package func answer<Request: BusRequest>(_ request: Request) async throws(BusError)
    -> Request.Response
  {
    let tracing = tracers.begin()
    let result: Result<Request.Response, BusError>
    do {
      result = .success(
        try await pass(request, interceptors.all[...], tracing) {
          try await self.answer($0, to: nil, $1)
        })
    } catch {
      result = .failure(BusError(error))
    }
    tracing?.end(Request.kind, nil, request, result.map { $0 })
    return try result.get()
  }

  /// Sends a request and calls a function of the main actor with the answer.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the destination.
  ///   - timeout: how long to wait; `nil` to wait forever.
  ///   - completion: the function, which is called exactly once.
  /// - Returns: the task of the request. If it is cancelled, the answer is
  ///   ``BusError/cancelled``.
  @discardableResult public func send<Request: BusRequest>(
    _ request: Request, to destination: Request.Destination? = nil, timeout: Duration? = nil,
    completion: @escaping @MainActor @Sendable (Result<Request.Response, BusError>) -> Void
  ) -> Task<Void, Never> {
    send(request, to: destination, timeout: timeout, on: .main, completion: onMainActor(completion))
  }

  /// Sends a request and calls a function with the answer.
  ///
  /// - Parameters:
  ///   - request: the request.
  ///   - destination: the destination.
  ///   - timeout: how long to wait; `nil` to wait forever.
  ///   - delivery: where the function is called.
  ///   - completion: the function, which is called exactly once.
  /// - Returns: the task of the request. If it is cancelled, the answer is
  ///   ``BusError/cancelled``.
  @discardableResult public func send<Request: BusRequest>(
    _ request: Request, to destination: Request.Destination? = nil, timeout: Duration? = nil,
    on delivery: Delivery,
    completion: @escaping @Sendable (Result<Request.Response, BusError>) -> Void
  ) -> Task<Void, Never> {
    let executor = DeliveryPlace(of: delivery).executor
    return Task {
      let result: Result<Request.Response, BusError>
      do throws(BusError) {
        result = .success(try await send(request, to: destination, timeout: timeout))
      } catch {
        result = .failure(error)
      }
      executor.enqueue { completion(result) }
    }
  }

  /// Passes a request to its handlers until one accepts it. The only place where a request meets
  /// its handler.
  @inlinable func answer<Request: BusRequest>(
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
    let endpoint = destination?.rawValue
    throw isKnown
      ? BusError.unavailable(kind: Request.kind, endpoint: endpoint, reasons: reasons)
      : BusError.missingHandler(kind: Request.kind, endpoint: endpoint)
  }

  /// Runs work until it ends, the timeout expires or the task is cancelled, whichever comes first.
  ///
  /// The work has a task of its own, since it may ignore its cancellation, and threads of its own,
  /// since it may block. Its beginning runs on this thread if it is `immediate`.
  @usableFromInline func race<Response: Sendable>(
    _ timeout: Duration?, immediate: Bool,
    _ work: @escaping @Sendable () async -> Result<Response, BusError>
  ) async -> Result<Response, BusError> {
    let promise = Promise<Result<Response, BusError>>()
    let body: @Sendable () async -> Void = { _ = promise.provide(await work()) }
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
