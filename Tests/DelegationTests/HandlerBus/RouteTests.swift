// Specifies which routes match, and which one wins.

@Suite struct RouteTests {
  let bus = HandlerBus()
  let log = Log<String>()

  /// Registers a route that takes every URL.
  @discardableResult private func route(
    _ pattern: RoutePattern, _ name: String? = nil, priority: Int = 0
  ) -> HandlerRegistration {
    bus.route(pattern, priority: priority) { [log] _ in
      log.append(name ?? pattern.text)
      return true
    }
  }

  private func open(_ url: String) async throws -> Bool {
    await bus.open(try #require(URL(string: url)))
  }

  @Test func exactComesBeforeParameterBeforeWildcard() async throws {
    // Registered in the reverse order, and with the opposite priorities.
    let wildcard = route("lights://room/*", priority: 2)
    let parameter = route("lights://room/:id", priority: 1)
    let exact = route("lights://room/kitchen")
    for (registration, name) in [
      (exact, "lights://room/kitchen"), (parameter, "lights://room/:id"),
      (wildcard, "lights://room/*"),
    ] {
      #expect(try await open("lights://room/kitchen"))
      #expect(log.entries.last == name)
      registration.cancel()
    }
    #expect(try await !open("lights://room/kitchen"))
  }

  @Test func theFirstPartThatDiffersDecides() async throws {
    route("lights://room/:id/lamp")
    route("lights://room/kitchen/:lamp")
    #expect(try await open("lights://room/kitchen/lamp"))
    #expect(try await open("lights://room/hall/lamp"), "it backtracks at a dead end")
    #expect(log.entries == ["lights://room/kitchen/:lamp", "lights://room/:id/lamp"])
  }

  @Test func equallySpecificRoutesComeByPriorityThenInOrder() async throws {
    route("lights://room/:id", "first")
    route("lights://room/:name", "second")
    let high = route("lights://room/:number", "high", priority: 1)
    #expect(try await open("lights://room/1"))
    high.cancel()
    #expect(try await open("lights://room/1"))
    #expect(log.entries == ["high", "first"])
  }

  @Test func falsePassesTheURLToTheNextRoute() async throws {
    bus.route("lights://room/:id") { [log] match in
      log.append("declined")
      return match.parameters["id"] == "1"
    }
    route("lights://*")
    #expect(try await open("lights://room/2"))
    #expect(log.entries == ["declined", "lights://*"])
    #expect(try await open("lights://room/1"))
    #expect(log.entries.last == "declined")
  }

  @Test func aCancelledTaskAsksNoFurtherRoute() async throws {
    bus.route("lights://room", priority: 1) { [log] _ in
      log.append("first")
      withUnsafeCurrentTask { $0?.cancel() }
      return false
    }
    route("lights://room", "second")
    #expect(try await !Task { try await open("lights://room") }.value)
    #expect(log.entries == ["first"])
  }

  @Test func openingAURLWithoutARouteReturnsFalseWithoutEffect() async throws {
    route("lights://room/:id")
    for url in ["lights://room", "lights://room/1/2", "lights://hall/1", "other://room/1"] {
      #expect(try await !open(url), "\(url)")
      #expect(!bus.canOpen(try #require(URL(string: url))))
    }
    #expect(bus.canOpen(try #require(URL(string: "lights://room/1"))))
    #expect(log.entries == [], "canOpen opens nothing")
  }

  @Test func schemeAndHostIgnoreCase() async throws {
    route("Lights://Room/:id")
    #expect(try await open("LIGHTS://ROOM/1"))
    #expect(try await open("lights://room/1"))
    route("https://example.com/Path")
    #expect(try await open("HTTPS://EXAMPLE.COM/Path"))
    #expect(try await !open("https://example.com/path"), "paths are case-sensitive")
  }

  @Test(arguments: [
    "https://example.com/qqevil", "https://example.com/qqevil/1", "https://example.com.evil/qq",
    "https://example.com@evil.example/qq", "https://evil.example/https://example.com/qq",
    "https://example.com/qq/../evil", "https://example.com/qq/%2e%2e/evil",
    "https://example.com:8443/qq", "http://example.com/qq", "https://example.com/other?x=/qq/",
  ])
  func aWebLinkHasNoFalsePrefix(url: String) async throws {
    route("https://example.com/qq/*")
    #expect(try await !open(url))
  }

  @Test(arguments: [
    "https://example.com/qq", "https://example.com/qq/", "https://example.com/qq/1/2?x=3#y",
    "https://example.com:443/qq", "https://user@example.com/qq", "https://example.com/a/../qq/1",
    "https://example.com//qq", "https://example.com/%71q",
  ])
  func aWebLinkLeadsToEverythingBelow(url: String) async throws {
    route("https://example.com/qq/*")
    #expect(try await open(url))
  }

  @Test func aMatchHasParametersRestAndQuery() async throws {
    let matches = Log<RouteMatch>()
    bus.route("lights://:house/room/:id/*") { match in
      matches.append(match)
      return true
    }
    let url = "lights://home/room/a%20b%2Fc/x/y?on=1&name=d%26e&on=2&empty#part"
    #expect(try await open(url))
    let match = try #require(matches.entries.first)
    #expect(match.url.absoluteString == url)
    #expect(match.parameters == ["house": "home", "id": "a b/c"])
    #expect(match.rest == ["x", "y"])
    #expect(match.query == ["on": "1", "name": "d&e", "empty": ""])
    #expect(match.activity == nil)
  }

  @Test func aParameterIsNeverEmpty() async throws {
    route("lights://:house/room")
    #expect(try await !open("lights:///room"))
    #expect(try await open("lights://home/room"))
  }

  @Test func urlsWithoutHostHaveRoutesToo() async throws {
    route("mailto::address", "mail")
    route("file:///tmp/*", "file")
    #expect(try await open("mailto:me@example.com"))
    #expect(try await open("file:///tmp/x"))
    #expect(try await !open("file://server/tmp/x"))
    #expect(log.entries == ["mail", "file"])
  }

  @Test func aVisitOfAWebPageOpensItsLink() async throws {
    let matches = Log<RouteMatch>()
    for pattern in ["https://example.com/qq/*", "lights://room/1"] as [RoutePattern] {
      bus.route(pattern) { match in
        matches.append(match)
        return true
      }
    }
    let page = try #require(URL(string: "https://example.com/qq/1"))
    let activity = UserActivity(webpageURL: page, title: "QQ", userInfo: ["from": "phone"])
    #expect(await bus.open(activity))
    #expect(matches.entries.first?.activity == activity)
    #expect(await !bus.open(UserActivity(type: "com.example.editing", webpageURL: page)))
    #expect(await !bus.open(UserActivity()))
    #expect(await !bus.open(UserActivity(webpageURL: URL(string: "lights://room/1"))))
    #expect(matches.entries.count == 1)
  }

  @Test(arguments: [
    ("room/:id", "it is not a URL"), (":room", "it is not a URL"),
    ("*://room", "its scheme must be literal"),
    ("lights://*/room", "only its last part can be *"),
    ("lights://room/:id/:id", "each parameter needs a unique name"),
    ("lights://room/:", "each parameter needs a unique name"),
    ("lights://room/%zz", "it is not a URL"),
  ])
  func aMalformedPatternIsRefused(pattern: String, reason: String) throws {
    let error = #expect(throws: RoutePatternError.self) { try RoutePattern(pattern) }
    #expect(error?.pattern == pattern && error?.reason == reason)
  }

  @Test func routesGoWithTheirSetAndRegistration() async throws {
    let (handlers, census) = (HandlerSet(), Census())
    let registration: HandlerRegistration
    do {
      let canary = census.makeCanary()
      registration = handlers.route("lights://room/:id") { _ in
        canary.sing()
        return true
      }
    }
    bus.handlers = handlers
    #expect(try await open("lights://room/1"))
    #expect(census.deaths == 0)
    registration.cancel()
    #expect(try await !open("lights://room/1"))
    #expect(census.deaths == 1)
  }
}
