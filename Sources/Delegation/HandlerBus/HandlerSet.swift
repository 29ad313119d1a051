// Keeps what answers requests.

internal import DarwinNotifySupport

/// Handlers and routes that can replace those of a ``HandlerBus`` at once.
///
/// A program with two interchangeable implementations makes two sets and switches between them:
///
///     let official = HandlerSet()
///     official.handle(ShareText.self, at: ["org.example.chat"]) { try await sdk.share($0.text) }
///     bus.handlers = official
///
/// A set is shared: the buses that use it see later additions and cancellations.
public final class HandlerSet: Sendable {
  private struct State {
    /// By the type of the request; those with the highest priority first.
    var handlers: [ObjectIdentifier: [(priority: Int, handler: any AnyObject & Sendable)]] = [:]
    /// The most specific first.
    var routes: [Route] = []
  }

  private let state = Locked(State())

  /// Creates a set without handlers.
  public init() {}

  /// The handlers of a type of request.
  func handlers<Request: BusRequest>(of type: Request.Type) -> [Handler<Request>] {
    let handlers = state.withLock { $0.handlers[ObjectIdentifier(type)] } ?? []
    return handlers.map { unsafeDowncast($0.handler, to: Handler<Request>.self) }
  }

  func add<Request: BusRequest>(
    _ handler: Handler<Request>, priority: Int
  ) -> HandlerRegistration {
    let key = ObjectIdentifier(Request.self)
    state.withLock { state in
      var handlers = state.handlers[key] ?? []
      let index = handlers.firstIndex { $0.priority < priority } ?? handlers.endIndex
      handlers.insert((priority, handler), at: index)
      state.handlers[key] = handlers
    }
    // Releases everything that a handler holds, without the lock.
    return HandlerRegistration { [weak self, weak handler] in
      guard let self, let handler else { return }
      state.withLock { state in
        state.handlers[key]?.removeAll { $0.handler === handler }
        if state.handlers[key]?.isEmpty == true { state.handlers[key] = nil }
      }
    }
  }

  /// All routes, the most specific first.
  var routes: [Route] { state.withLock { $0.routes } }

  func add(_ route: Route) -> HandlerRegistration {
    state.withLock { state in
      let index = state.routes.firstIndex { route.isBefore($0) } ?? state.routes.endIndex
      state.routes.insert(route, at: index)
    }
    // Releases everything that a route holds, without the lock.
    return HandlerRegistration { [weak self, weak route] in
      guard let self, let route else { return }
      state.withLock { state in state.routes.removeAll { $0 === route } }
    }
  }
}

/// A handler of one type of request.
final class Handler<Request: BusRequest>: Sendable {
  typealias Body = @Sendable (Request) async throws -> Request.Response

  /// Empty for a handler of all destinations.
  let destinations: Set<Request.Destination>
  let origin: String
  let isAvailable: @Sendable () -> Bool
  let body: Body

  init(
    at destinations: [Request.Destination], origin: String,
    available isAvailable: @escaping @Sendable () -> Bool, _ body: @escaping Body
  ) {
    self.destinations = Set(destinations)
    self.origin = origin
    self.isAvailable = isAvailable
    self.body = body
  }

  func serves(_ destination: Request.Destination?) -> Bool {
    destinations.isEmpty || destination.map { destinations.contains($0) } ?? false
  }
}
