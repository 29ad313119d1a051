// Opens URLs.

public import FoundationEssentials

extension HandlerRegistry {
  /// Registers a route.
  ///
  ///     bus.route("lights://room/:id") { match in show(match.parameters["id"]) }
  ///
  /// - Parameters:
  ///   - pattern: the URLs that it leads to.
  ///   - priority: among routes whose patterns are equally specific, those with a higher one are
  ///     asked first.
  ///   - origin: how the trace names the route.
  ///   - line: how the trace names the route.
  ///   - body: what to do with a URL. It returns false to let the next route have it.
  /// - Returns: the registration.
  @discardableResult public func route(
    _ pattern: RoutePattern, priority: Int = 0, origin: String = #fileID, line: Int = #line,
    perform body: @escaping @Sendable (RouteMatch) async -> Bool
  ) -> Registration {
    handlers.add(Route(pattern, priority: priority, origin: "\(origin):\(line)", body))
  }
}

extension HandlerBus {
  /// Opens a URL: asks the routes that lead to it, the most specific first, until one takes it.
  ///
  /// - Parameter url: the URL.
  /// - Returns: whether a route has taken it. If none leads to it, or the URL is malformed, nothing
  ///   has happened.
  public func open(_ url: URL) async -> Bool {
    await open(url, as: nil)
  }

  /// Opens the web page of an activity.
  ///
  /// - Parameter activity: the activity. It is handed to the routes.
  /// - Returns: whether a route has taken it. An activity of another type than
  ///   ``UserActivity/browsingWeb``, or without the URL of a web page, is not taken.
  public func open(_ activity: UserActivity) async -> Bool {
    guard activity.type == UserActivity.browsingWeb, let url = activity.webpageURL,
      ["http", "https"].contains(url.scheme?.lowercased())
    else { return false }
    return await open(url, as: activity)
  }

  /// Tells whether a route leads to a URL. No route is asked.
  ///
  /// - Parameter url: the URL.
  /// - Returns: whether one does.
  public func canOpen(_ url: URL) -> Bool {
    RouteAddress(url.absoluteString).map { !handlers.routes(to: $0).isEmpty } ?? false
  }

  private func open(_ url: URL, as activity: UserActivity?) async -> Bool {
    guard let address = RouteAddress(url.absoluteString) else { return false }
    let tracing = tracers.begin()
    var isOpen = false
    for finding in handlers.routes(to: address) where !isOpen && !Task.isCancelled {
      isOpen = await finding.route.body(RouteMatch(finding, url, address, activity))
      if isOpen { tracing?.handler = finding.route.origin }
    }
    tracing?.end("open", nil, url, .success(isOpen))
    return isOpen
  }
}
