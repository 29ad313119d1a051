// Passes requests through interceptors.

internal import DarwinNotifySupport

/// An interceptor of a bus.
@usableFromInline final class Interceptor: Sendable {
  /// The body of an interceptor of all requests.
  typealias Body =
    @Sendable (any BusRequest, @Sendable () async throws -> Void) async throws -> Void

  enum Kind {
    case all(Body)
    /// A `TypedInterceptor` of this type of request.
    case typed(ObjectIdentifier, any AnyObject & Sendable)
  }

  let kind: Kind

  init(_ kind: Kind) {
    self.kind = kind
  }
}

/// The interceptors of a bus, the outermost first.
@usableFromInline final class InterceptorTable: Sendable {
  private let table = Locked<[Interceptor]>([])

  @usableFromInline var all: [Interceptor] { table.withLock { $0 } }

  func add(_ kind: Interceptor.Kind) -> Registration {
    let interceptor = Interceptor(kind)
    table.withLock { $0.append(interceptor) }
    // Releases everything that it holds, without the lock.
    return Registration { [weak self, weak interceptor] in
      guard let self, let interceptor else { return }
      table.withLock { table in table.removeAll { $0 === interceptor } }
    }
  }
}

/// An interceptor of one type of request.
private final class TypedInterceptor<Request: BusRequest>: Sendable {
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
  ) -> Registration {
    interceptors.add(.typed(ObjectIdentifier(type), TypedInterceptor(body)))
  }

  /// Puts an interceptor in front of the handlers of all requests.
  ///
  /// It may hold, refuse or repeat a request, but not change it.
  ///
  /// - Parameter body: the interceptor; `proceed` sends the request on. If it does so more than
  ///   once, the last response counts; if it returns without doing so, the request fails with
  ///   ``BusError/unanswered``.
  /// - Returns: the registration.
  @discardableResult public func intercept(
    _ body:
      @escaping @Sendable (
        _ request: any BusRequest, _ proceed: @Sendable () async throws -> Void
      ) async throws -> Void
  ) -> Registration {
    interceptors.add(.all(body))
  }

  /// Passes a request through the interceptors to what answers it.
  @usableFromInline func pass<Request: BusRequest>(
    _ request: Request, _ interceptors: ArraySlice<Interceptor>, _ tracing: Tracing?,
    answer: @escaping @Sendable (Request, Tracing?) async throws -> Request.Response
  ) async throws -> Request.Response {
    guard let interceptor = interceptors.first else { return try await answer(request, tracing) }
    let next: TypedInterceptor<Request>.Next = { request in
      try await self.pass(request, interceptors.dropFirst(), tracing, answer: answer)
    }
    switch interceptor.kind {
    case .typed(ObjectIdentifier(Request.self), let typed):
      let typed = unsafeDowncast(typed, to: TypedInterceptor<Request>.self)
      return try await typed.body(request, next)
    case .typed:
      return try await next(request)
    case .all(let body):
      let response = Locked<Request.Response?>(nil)
      try await body(request) {
        let latest = try await next(request)
        response.withLock { $0 = latest }
      }
      guard let response = response.withLock({ $0 }) else {
        throw BusError.unanswered(kind: Request.kind)
      }
      return response
    }
  }
}
