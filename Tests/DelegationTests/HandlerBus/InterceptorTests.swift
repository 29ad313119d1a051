// Specifies what interceptors see and change.

@Suite struct InterceptorTests {
  let bus = HandlerBus()
  let log = Log<String>()

  init() {
    bus.handle(ShareText.self) { [log] request in
      log.append("handler")
      return "\(request.text) with \(request.token)"
    }
  }

  @Test func interceptorsComeInOrderTheFirstOneOutermost() async throws {
    bus.intercept(ShareText.self) { [log] request, next in
      log.append("first")
      defer { log.append("first again") }
      return try await next(request)
    }
    bus.intercept(ShareText.self) { [log] request, next in
      log.append("second")
      return try await next(request) + "!"
    }
    bus.intercept(SignIn.self) { [log] request, next in
      log.append("another type of request")
      return try await next(request)
    }
    #expect(try await bus.send(ShareText(text: "hi", token: "t")) == "hi with t!")
    #expect(log.entries == ["first", "second", "handler", "first again"])
  }

  @Test func aRequestIsHeldUntilThereIsATokenThenContinues() async throws {
    let token = Promise<String>()
    bus.intercept(ShareText.self) { [log] request, next in
      log.append("asks for a token")
      var request = request
      request.token = await token.value()
      return try await next(request)
    }
    async let answer = bus.send(ShareText(text: "hi"))
    await eventually { log.entries == ["asks for a token"] }
    token.provide("4711")
    #expect(try await answer == "hi with 4711")
    #expect(log.entries == ["asks for a token", "handler"])
  }

  @Test func aRequestMayProceedAgain() async throws {
    let answers = Log<String>()
    bus.handle(ShareText.self, priority: 1) { _ in
      answers.append("answer")
      guard answers.entries.count > 1 else { throw SharingError(reason: "stale token") }
      return "answer \(answers.entries.count)"
    }
    bus.intercept(ShareText.self) { request, next in
      _ = try? await next(request)
      _ = try await next(request)
      return try await next(request)
    }
    #expect(try await bus.send(ShareText(text: "hi")) == "answer 3")
  }

  @Test func anInterceptorMayAnswerOrRefuse() async throws {
    let refusing = bus.intercept(ShareText.self) { _, _ in
      throw SharingError(reason: "offline")
    }
    let error = await #expect(throws: BusError.self) { try await bus.send(ShareText(text: "hi")) }
    #expect(error?.sharingError == SharingError(reason: "offline"))
    refusing.cancel()
    bus.intercept(ShareText.self) { _, _ in "from the cache" }
    #expect(try await bus.send(ShareText(text: "hi")) == "from the cache")
    #expect(log.entries == [])
  }

  @Test func interceptorsStayWhenTheHandlersAreReplaced() async throws {
    bus.intercept(ShareText.self) { request, next in try await next(request) + "!" }
    let handlers = HandlerSet()
    handlers.handle(ShareText.self) { _ in "new" }
    bus.handlers = handlers
    #expect(try await bus.send(ShareText(text: "hi")) == "new!")
  }
}
