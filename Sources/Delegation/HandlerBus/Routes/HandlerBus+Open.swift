// Opens URLs.

public import FoundationEssentials

extension HandlerRegistry {
  /// Registers a route.
  ///
  ///     bus.route("lights://room/:id") { match in show(match.parameters["id"]) }
  ///
  /// - Parameters:
  ///   - pattern: the URLs that the route matches.
  ///   - priority: among routes with equally specific patterns, those with a higher priority are
  ///     tried first.
  ///   - origin: the file of the route in the trace.
  ///   - line: the line of the route in the trace.
  ///   - body: the route's handler. It returns false to pass the URL to the next route.
  /// - Returns: the registration.
  @discardableResult public func route(
    _ pattern: RoutePattern, priority: Int = 0, origin: String = #fileID, line: Int = #line,
    perform body: @escaping @Sendable (RouteMatch) async -> Bool
  ) -> HandlerRegistration {
    handlers.add(Route(pattern, priority: priority, origin: "\(origin):\(line)", body))
  }
}

extension HandlerBus {
  /// Opens a URL: tries the routes that match it, the most specific first, until one takes it.
  ///
  /// - Parameter url: the URL.
  /// - Returns: whether a route took it. If none matches, or the URL is malformed, nothing happens.
  public func open(_ url: URL) async -> Bool {
    await open(url, as: nil)
  }

  /// Opens the web page of an activity.
  ///
  /// - Parameter activity: the activity, which is passed to the routes.
  /// - Returns: whether a route took it. An activity of a type other than
  ///   ``UserActivity/browsingWeb``, or without the URL of a web page, is not taken.
  public func open(_ activity: UserActivity) async -> Bool {
    guard activity.type == UserActivity.browsingWeb, let url = activity.webpageURL,
      ["http", "https"].contains(url.scheme?.lowercased())
    else { return false }
    return await open(url, as: activity)
  }

  /// Returns whether a route matches a URL. No handler is called.
  ///
  /// - Parameter url: the URL.
  /// - Returns: whether one does.
  public func canOpen(_ url: URL) -> Bool {
    !matches(of: url, as: nil).isEmpty
  }

  private func open(_ url: URL, as activity: UserActivity?) async -> Bool {
    let matches = matches(of: url, as: activity)
    let result = await tracers.trace(url, kind: "open", nil) { tracing in
      for (route, match) in matches where !Task.isCancelled {
        guard await route.body(match) else { continue }
        tracing?.handler = route.origin
        return .success(true)
      }
      return .success(false)
    }
    return result == .success(true)
  }

  /// The routes that match a URL, the most specific first; none if it is malformed.
  private func matches(of url: URL, as activity: UserActivity?) -> [(Route, RouteMatch)] {
    guard let address = RouteAddress(url.absoluteString) else { return [] }
    return handlers.routes.compactMap { route in
      RouteMatch(route.pattern, url, address, activity).map { (route, $0) }
    }
  }
}

/// A route of a handler set.
final class Route: Sendable {
  let pattern: RoutePattern
  let priority: Int
  let origin: String
  let body: @Sendable (RouteMatch) async -> Bool

  init(
    _ pattern: RoutePattern, priority: Int, origin: String,
    _ body: @escaping @Sendable (RouteMatch) async -> Bool
  ) {
    self.pattern = pattern
    self.priority = priority
    self.origin = origin
    self.body = body
  }

  /// Whether this route gets a URL that both match: it is more specific, or has a higher priority.
  func isBefore(_ other: Route) -> Bool {
    let (own, others) = (pattern.ranks, other.pattern.ranks)
    if own.lexicographicallyPrecedes(others) { return true }
    return own == others && priority > other.priority
  }
}
