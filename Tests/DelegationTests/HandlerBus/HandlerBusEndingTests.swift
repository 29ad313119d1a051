/// Every request ends exactly once.
@Suite struct HandlerBusEndingTests {
  let bus = HandlerBus()
  let log = Log<String>()
  private let replies = Locked<[HandlerBus.Reply<String>]>([])

  /// Registers a handler that answers when the test does.
  private func keepReplies() {
    bus.handle(replyingTo: ShareText.self) { [replies, log] request, reply in
      replies.withLock { $0.append(reply) }
      log.append(request.text)
    }
  }

  @Test func aSecondRequestBeforeTheFirstIsAnsweredDisturbsNeither() async throws {
    keepReplies()
    async let first = bus.send(ShareText(text: "first"), timeout: .seconds(3600))
    await eventually { log.entries == ["first"] }
    async let second = bus.send(ShareText(text: "second"))
    await eventually { log.entries == ["first", "second"] }
    let replies = replies.withLock { $0 }
    #expect(replies[1](.success("to the second")))
    #expect(replies[0](.success("to the first")))
    #expect(try await first == "to the first")
    #expect(try await second == "to the second")
  }

  @Test func anAnswerAfterAnErrorIsDropped() async throws {
    keepReplies()
    let request = Task { try await bus.send(ShareText(text: "hi")) }
    await eventually { log.entries.count == 1 }
    let reply = replies.withLock { $0[0] }
    #expect(reply(.failure(SharingError(reason: "no network"))))
    #expect(!reply(.success("late")))
    #expect(!reply(.success("later")))
    let error = await #expect(throws: BusError.self) { try await request.value }
    #expect(error?.sharingError == SharingError(reason: "no network"))
  }

  @Test func aReplyThatIsDroppedEndsTheRequest() async throws {
    bus.handle(replyingTo: ShareText.self) { _, _ in }
    let error = await #expect(throws: BusError.self) { try await bus.send(ShareText(text: "hi")) }
    #expect(error.is(.unanswered))
  }

  @Test func aReplyMayDecline() async throws {
    bus.handle(replyingTo: ShareText.self) { _, reply in reply(.failure(Decline("not me"))) }
    bus.handle(ShareText.self) { _ in "me" }
    #expect(try await bus.send(ShareText(text: "hi")) == "me")
  }

  @Test func theTimeoutCancelsTheHandler() async throws {
    bus.handle(ShareText.self) { [log] _ in
      try? await Task.sleep(for: .seconds(3600))
      log.append(Task.isCancelled ? "was cancelled" : "was not cancelled")
      return "late"
    }
    let error = await #expect(throws: BusError.self) {
      try await bus.send(ShareText(text: "hi"), timeout: .milliseconds(10))
    }
    #expect(error.is(.timedOut))
    await eventually { log.entries == ["was cancelled"] }
  }

  @Test func noFurtherHandlerIsAskedAfterTheCancellation() async throws {
    bus.handle(ShareText.self, priority: 1) { _ in
      withUnsafeCurrentTask { $0?.cancel() }
      throw Decline("not me")
    }
    bus.handle(ShareText.self) { [log] _ in
      log.append("asked")
      return "me"
    }
    let error = await #expect(throws: BusError.self) { try await bus.send(ShareText(text: "hi")) }
    #expect(error.is(.cancelled))
    #expect(log.entries == [])
  }

  @Test func cancellingEndsARequestWhoseHandlerIgnoresIt() async throws {
    let isFree = Promise<Void>()
    bus.handle(ShareText.self) { [log] _ in
      log.append("begun")
      await isFree.value()
      log.append(Task.isCancelled ? "was cancelled" : "was not cancelled")
      return "late"
    }
    let request = Task { try await bus.send(ShareText(text: "hi")) }
    await eventually { log.entries == ["begun"] }
    request.cancel()
    let error = await #expect(throws: BusError.self) { try await request.value }
    #expect(error.is(.cancelled))
    #expect(log.entries == ["begun"], "the caller does not wait for the handler")
    isFree.provide(())
    await eventually { log.entries == ["begun", "was cancelled"] }
  }

  // More handlers than the cooperative pool has threads.
  @Test(arguments: [true, false])
  func aRequestEndsAlthoughItsHandlerNeverSuspends(_ byTimeout: Bool) async {
    let count = 2 * ProcessInfo.processInfo.activeProcessorCount + 2
    let isFree = DispatchSemaphore(value: 0)
    bus.handle(ShareText.self) { [log] request in
      log.append(request.text)
      wait(for: isFree)
      return "late"
    }
    let requests = (1...count).map { number in
      Task {
        try await bus.send(
          ShareText(text: "\(number)"), timeout: byTimeout ? .milliseconds(200) : nil)
      }
    }
    if !byTimeout {
      await eventually { log.entries.count == count }
      for request in requests { request.cancel() }
    }
    for request in requests {
      let error = await #expect(throws: BusError.self) { try await request.value }
      #expect(error.is(byTimeout ? .timedOut : .cancelled))
    }
    for _ in 1...count { isFree.signal() }
  }

  @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
    keepReplies()
    let request = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await bus.send(ShareText(text: "hi"))
    }
    request.cancel()
    await #expect(throws: BusError.self) { try await request.value }
    #expect(log.entries == [])
  }

  @Test func everyRequestOfAThousandEndsOnce() async throws {
    let ends = Log<Int>()
    bus.handle(replyingTo: ShareText.self) { request, reply in
      Task.detached { reply(.success(request.text)) }
      Task.detached { reply(.failure(SharingError(reason: "too"))) }
    }
    for number in 0..<1000 {
      Task {
        _ = try? await bus.send(ShareText(text: "\(number)"), timeout: .seconds(3600))
        ends.append(number)
      }
    }
    await eventually { ends.entries.count == 1000 }
    #expect(Set(ends.entries).count == 1000)
  }
}

/// Blocks the thread, as C code does.
private func wait(for semaphore: DispatchSemaphore) {
  semaphore.wait()
}
