// The handlers of a bus.

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
