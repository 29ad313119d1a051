// Specifies what a trace says about a request.

@Suite struct TraceTests {
  let bus = HandlerBus()

  @Test func reportsRequestHandlerDurationAndResult() async throws {
    let trace = bus.trace()
    let line = #line + 1
    bus.handle(ShareText.self, at: [BusEndpoint.Chat.friend]) { request in
      guard request.text != "bad" else { throw SharingError(reason: "bad") }
      return "sent " + request.text
    }
    _ = try await bus.send(ShareText(text: "hi"), to: BusEndpoint.Chat.friend)
    _ = try? await bus.send(ShareText(text: "bad"), to: BusEndpoint.Chat.friend)
    _ = try? await bus.send(SignIn(), to: .chat)
    var events = trace.makeAsyncIterator()

    let answered = try #require(await events.next())
    #expect(answered.kind == "share.text" && answered.endpoint == "org.example.chat.friend")
    #expect((answered.request as? ShareText)?.text == "hi")
    #expect(answered.handler == "\(#fileID):\(line)")
    #expect(answered.duration > .zero)
    #expect(try answered.result.get() as? String == "sent hi")

    let failed = try #require(await events.next())
    #expect(failed.handler == "\(#fileID):\(line)")
    let error = #expect(throws: BusError.self) { try failed.result.get() }
    #expect(error?.sharingError == SharingError(reason: "bad"))

    let missing = try #require(await events.next())
    #expect(missing.kind == SignIn.kind && missing.handler == nil)
    let none = #expect(throws: BusError.self) { try missing.result.get() }
    #expect(none.is(.missingHandler))
  }

  @Test func tracesURLsToo() async throws {
    let trace = bus.trace()
    bus.route("lights://room/:id") { _ in true }
    let url = try #require(URL(string: "lights://room/1"))
    _ = await bus.open(url)
    var events = trace.makeAsyncIterator()
    let event = try #require(await events.next())
    #expect(event.kind == "open" && event.request as? URL == url)
    #expect(event.handler?.hasPrefix(#fileID) == true)
    #expect(try event.result.get() as? Bool == true)
  }

  @Test func everyFollowerSeesEverything() async throws {
    let traces = [bus.trace(), bus.trace()]
    bus.handle(Launch.self) { _ in }
    for _ in 0..<10 { try await bus.send(Launch()) }
    for trace in traces {
      var events = trace.makeAsyncIterator()
      for _ in 0..<10 { #expect(await events.next()?.kind == Launch.kind) }
    }
  }

  @Test func aTraceEndsWithTheBus() async throws {
    var bus: HandlerBus? = HandlerBus()
    let trace = try #require(bus?.trace())
    bus = nil
    for await _ in trace { Issue.record("nothing was sent") }
  }
}
