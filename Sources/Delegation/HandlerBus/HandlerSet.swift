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
    /// Each value is the `HandlerList` of the type that is its key.
    var lists: [ObjectIdentifier: any AnyObject & Sendable] = [:]
    var routes = RouteTree()
  }

  private let state = Locked(State())

  /// Creates a set without handlers.
  public init() {}

  /// The handlers of a type of request.
  @inlinable func handlers<Request: BusRequest>(of type: Request.Type) -> [Handler<Request>] {
    let list = list(of: ObjectIdentifier(type))
    return list.map { unsafeDowncast($0, to: HandlerList<Request>.self).handlers } ?? []
  }

  @usableFromInline func list(of type: ObjectIdentifier) -> (any AnyObject & Sendable)? {
    state.withLock { $0.lists[type] }
  }

  func add<Request: BusRequest>(_ handler: Handler<Request>) -> Registration {
    change(Request.self) { $0.adding(handler) }
    return Registration { [weak self, weak handler] in
      guard let self, let handler else { return }
      change(Request.self) { $0.removing(handler) }
    }
  }

  private func change<Request: BusRequest>(
    _ type: Request.Type, _ body: (HandlerList<Request>) -> HandlerList<Request>
  ) {
    let key = ObjectIdentifier(type)
    let old = state.withLock { state in
      let old = state.lists[key].map { unsafeDowncast($0, to: HandlerList<Request>.self) }
      let new = body(old ?? HandlerList())
      state.lists[key] = new.handlers.isEmpty ? nil : new
      return old
    }
    // Releases everything that a handler holds, without the lock.
    withExtendedLifetime(old) {}
  }

  /// The routes that lead to an address, the most specific first.
  func routes(to address: RouteAddress) -> [RouteTree.Finding] {
    let routes = state.withLock { $0.routes }
    return routes.find(address)
  }

  func add(_ route: Route) -> Registration {
    state.withLock { $0.routes.insert(route) }
    // Releases everything that a route holds, without the lock.
    return Registration { [weak self, weak route] in
      guard let self, let route else { return }
      state.withLock { $0.routes.remove(route) }
    }
  }
}

/// A handler of one type of request.
@usableFromInline final class Handler<Request: BusRequest>: Sendable {
  @usableFromInline typealias Body = @Sendable (Request) async throws -> Request.Response

  /// Empty for a handler of all destinations.
  @usableFromInline let destinations: Set<Request.Destination>
  let priority: Int
  @usableFromInline let isAvailable: @Sendable () -> Bool
  @usableFromInline let origin: String
  @usableFromInline let body: Body

  init(
    at destinations: [Request.Destination], priority: Int, origin: String,
    available isAvailable: @escaping @Sendable () -> Bool, _ body: @escaping Body
  ) {
    self.destinations = Set(destinations)
    self.priority = priority
    self.isAvailable = isAvailable
    self.origin = origin
    self.body = body
  }

  @inlinable func serves(_ destination: Request.Destination?) -> Bool {
    destinations.isEmpty || destination.map { destinations.contains($0) } ?? false
  }
}

/// The handlers of one type of request: highest priority first, then in order of registration.
@usableFromInline final class HandlerList<Request: BusRequest>: Sendable {
  @usableFromInline let handlers: [Handler<Request>]

  init(_ handlers: [Handler<Request>] = []) {
    self.handlers = handlers
  }

  func adding(_ handler: Handler<Request>) -> HandlerList {
    let index = handlers.firstIndex { $0.priority < handler.priority } ?? handlers.endIndex
    var handlers = handlers
    handlers.insert(handler, at: index)
    return HandlerList(handlers)
  }

  func removing(_ handler: Handler<Request>) -> HandlerList {
    HandlerList(handlers.filter { $0 !== handler })
  }
}
