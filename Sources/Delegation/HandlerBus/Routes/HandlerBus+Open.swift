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
  ) -> Registration {
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
