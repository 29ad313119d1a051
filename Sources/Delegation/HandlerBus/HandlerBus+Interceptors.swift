// Passes requests through interceptors.

internal import DarwinNotifySupport

/// An interceptor of one type of request.
final class Interceptor<Request: BusRequest>: Sendable {
  typealias Next = @Sendable (Request) async throws -> Request.Response

  let body: @Sendable (Request, Next) async throws -> Request.Response

  init(_ body: @escaping @Sendable (Request, Next) async throws -> Request.Response) {
    self.body = body
  }
}

extension HandlerBus {
  /// Puts an interceptor in front of the handlers of a type of request.
  ///
  /// It may hold a request until something else has happened, change it, answer it, refuse it, or
  /// send it on more than once:
  ///
  ///     bus.intercept(ShareText.self) { request, next in
  ///       var request = request
  ///       request.token = try await signIn.token()         // however long that takes
  ///       return try await next(request)
  ///     }
  ///
  /// Interceptors run in the order of their registration, the first one outermost. They stay when
  /// the handlers of the bus are replaced.
  ///
  /// - Parameters:
  ///   - type: the type of the requests.
  ///   - body: the interceptor; `next` sends the request on. It runs in the task of the request.
  /// - Returns: the registration.
  @discardableResult public func intercept<Request: BusRequest>(
    _ type: Request.Type,
    _ body:
      @escaping @Sendable (
        _ request: Request, _ next: @Sendable (Request) async throws -> Request.Response
      ) async throws -> Request.Response
  ) -> HandlerRegistration {
    let interceptor = Interceptor(body)
    interceptors.withLock { $0[ObjectIdentifier(type), default: []].append(interceptor) }
    // Releases everything that it holds, without holding the lock.
    return HandlerRegistration { [weak self, weak interceptor] in
      guard let self, let interceptor else { return }
      interceptors.withLock { $0[ObjectIdentifier(type)]?.removeAll { $0 === interceptor } }
    }
  }

  /// The interceptors of a type of request, the outermost first.
  func interceptors<Request: BusRequest>(of type: Request.Type) -> [Interceptor<Request>] {
    let all = interceptors.withLock { $0[ObjectIdentifier(type)] } ?? []
    return all.map { unsafeDowncast($0, to: Interceptor<Request>.self) }
  }

  /// Passes a request through interceptors to the function that answers it.
  func pass<Request: BusRequest>(
    _ request: Request, _ interceptors: ArraySlice<Interceptor<Request>>,
    answer: @escaping Interceptor<Request>.Next
  ) async throws -> Request.Response {
    guard let interceptor = interceptors.first else { return try await answer(request) }
    return try await interceptor.body(request) { request in
      try await self.pass(request, interceptors.dropFirst(), answer: answer)
    }
  }
}
