// Specifies how requests find their handlers.

@Suite struct HandlerBusTests {
  let bus = HandlerBus()
  let log = Log<String>()

  /// Sends a text to a friend.
  private func share(_ text: String = "hi") async throws -> String {
    try await bus.send(ShareText(text: text), to: BusEndpoint.Chat.friend)
  }

  @Test func aRequestIsAnsweredByItsHandler() async throws {
    bus.handle(ShareText.self, at: [BusEndpoint.Chat.friend]) { "sent " + $0.text }
    bus.handle(SignIn.self, at: [.chat]) { _ in 7 }
    bus.handle(Launch.self) { _ in }
    #expect(try await share() == "sent hi")
    #expect(try await bus.send(SignIn(), to: .chat) == 7)
    try await bus.send(Launch())
  }

  @Test func aMissingHandlerIsAnErrorWithKindAndEndpoint() async throws {
    bus.handle(ShareText.self, at: [BusEndpoint.Chat.timeline]) { $0.text }
    let error = await #expect(throws: BusError.self) { try await share() }
    #expect(error.is(.missingHandler))
    #expect(error?.description == "no handler for share.text at org.example.chat.friend")
    #expect(error.map { ($0 as any Error).localizedDescription } == error?.description)
    await #expect(throws: BusError.self) { try await bus.send(SignIn(), to: "org.example.other") }
    let unnamed = await #expect(throws: BusError.self) { try await bus.send(Launch()) }
    #expect(unnamed?.description == "no handler for DelegationTests.Launch")
  }

  @Test func aRequestWithoutDestinationNeedsAHandlerWithoutOne() async throws {
    bus.handle(ShareText.self, at: [BusEndpoint.Chat.friend, BusEndpoint.Chat.timeline]) { _ in
      "chat"
    }
    await #expect(throws: BusError.self) { try await bus.send(ShareText(text: "hi")) }
    bus.handle(ShareText.self) { _ in "anywhere" }
    #expect(try await bus.send(ShareText(text: "hi")) == "anywhere")
    #expect(try await bus.send(ShareText(text: "hi"), to: "org.example.mail") == "anywhere")
    #expect(try await bus.send(ShareText(text: "hi"), to: BusEndpoint.Chat.timeline) == "chat")
  }

  @Test func handlersComeByPriorityThenInOrderOfRegistration() async throws {
    let low = bus.handle(ShareText.self, priority: -1) { _ in "low" }
    let first = bus.handle(ShareText.self) { _ in "first" }
    let second = bus.handle(ShareText.self, at: [BusEndpoint.Chat.friend]) { _ in "second" }
    let high = bus.handle(ShareText.self, priority: 10) { _ in "high" }
    for (answer, registration) in [
      ("high", high), ("first", first), ("second", second), ("low", low),
    ] {
      #expect(try await share() == answer)
      registration.cancel()
      registration.cancel()
    }
    await #expect(throws: BusError.self) { try await share() }
  }

  @Test func anUnavailableHandlerIsSkipped() async throws {
    let isInstalled = Log<Void>()
    bus.handle(
      ShareText.self, priority: 1, available: { !isInstalled.entries.isEmpty }
    ) { _ in "app" }
    let web = bus.handle(ShareText.self) { _ in "web" }
    #expect(try await share() == "web")
    web.cancel()
    #expect(!bus.canHandle(ShareText.self))
    let error = await #expect(throws: BusError.self) { try await share() }
    #expect(error.is(.unavailable) && error?.kind == "share.text" && error?.reasons == [])
    isInstalled.append(())
    #expect(bus.canHandle(ShareText.self))
    #expect(try await share() == "app")
  }

  @Test func aHandlerThatDeclinesLeavesTheRequestToTheNext() async throws {
    bus.handle(ShareText.self) { request in
      guard request.text.count < 10 else { throw Decline("too long") }
      return "short"
    }
    let rest = bus.handle(ShareText.self) { _ in "long" }
    #expect(try await share("hi") == "short")
    #expect(try await share("hello, hello") == "long")
    rest.cancel()
    let error = await #expect(throws: BusError.self) { try await share("hello, hello") }
    #expect(error.is(.unavailable) && error?.reasons == ["too long"])
  }

  @Test func theErrorOfAHandlerReachesTheCaller() async throws {
    bus.handle(ShareText.self, priority: 1) { _ in throw SharingError(reason: "no network") }
    bus.handle(ShareText.self) { _ in "never asked" }
    let error = await #expect(throws: BusError.self) { try await share() }
    #expect(error?.sharingError == SharingError(reason: "no network"))
  }

  @Test func anErrorThatTheRequestDeclaresReachesTheCallerAsItWasThrown() async throws {
    var traced = bus.trace().makeAsyncIterator()
    let handler = bus.handle(Attach.self) { _ in throw Attach.Failure.tooLarge(limit: 9) }
    await #expect(throws: Attach.Failure.tooLarge(limit: 9)) { try await bus.send(Attach()) }
    guard case .failure(let error)? = await traced.next()?.result else {
      Issue.record("the trace has no error")
      return
    }
    #expect(error.code == .failed && error.underlying is Attach.Failure)
    handler.cancel()
    bus.handle(replyingTo: Attach.self) { _, reply in
      reply(.failure(Attach.Failure.tooLarge(limit: 8)))
    }
    do {
      try await bus.send(Attach())
    } catch Attach.Failure.tooLarge(let limit) {
      #expect(limit == 8)
    }
  }

  @Test func anErrorThatTheRequestDoesNotDeclareIsOneOfTheBus() async throws {
    bus.handle(Attach.self) { _ in throw SharingError(reason: "no network") }
    let error = await #expect(throws: BusError.self) { try await bus.send(Attach()) }
    #expect(error?.sharingError == SharingError(reason: "no network"))
  }

  @Test func anErrorOfARequestThatAHandlerSendsKeepsItsMeaning() async throws {
    bus.handle(ShareText.self) { [unowned bus] _ in "\(try await bus.send(SignIn(), to: .chat))" }
    let error = await #expect(throws: BusError.self) { try await share() }
    #expect(error.is(.missingHandler))
  }

  @Test func allHandlersAreReplacedAtOnce() async throws {
    let (openSource, official) = (HandlerSet(), HandlerSet())
    openSource.handle(ShareText.self) { _ in "open source" }
    openSource.handle(SignIn.self) { _ in 1 }
    let registration = official.handle(ShareText.self) { _ in "official" }
    official.handle(SignIn.self) { _ in 2 }

    bus.handlers = openSource
    #expect(try await share() == "open source")
    bus.handlers = official
    #expect(try await share() == "official")
    #expect(try await bus.send(SignIn()) == 2)
    registration.cancel()
    await #expect(throws: BusError.self) { try await share() }
    bus.handlers = openSource
    #expect(try await share() == "open source")
    bus.handlers = HandlerSet()
    #expect(!bus.canHandle(ShareText.self))
  }

  @Test func handlersAndRoutesComeAndGoOnEightThreadsWhileRequestsRun() async throws {
    let (census, sets) = (Census(), [HandlerSet(), HandlerSet()])
    for set in sets {
      set.handle(ShareText.self, priority: -1) { _ in "lasting" }
      set.route("lights://*") { _ in true }
    }
    bus.handlers = sets[0]
    let url = try #require(URL(string: "lights://room/1"))
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask { [bus] in
          for round in 0..<500 {
            if worker == 0 {
              bus.handlers = sets[round % 2]
            } else if worker % 2 == 0 {
              let canary = census.makeCanary()
              bus.handle(ShareText.self) { _ in
                canary.sing()
                return "passing"
              }.cancel()
              bus.route("lights://room/1") { _ in true }.cancel()
            } else {
              let answer = try? await bus.send(ShareText(text: ""))
              let isOpen = await bus.open(url)
              #expect(answer != nil && isOpen)
            }
          }
        }
      }
    }
    await eventually { census.deaths == 1500 }
  }

  @Test func twoSetsOfDestinationsAreKeptApart() {
    bus.handle(SignIn.self, at: [.chat]) { _ in 1 }
    #expect(bus.canHandle(SignIn.self, at: .chat))
    #expect(!bus.canHandle(SignIn.self, at: "org.example.mail"))
    #expect(!bus.canHandle(ShareText.self, at: BusEndpoint(rawValue: BusPlatform.chat.rawValue)))
  }
}
