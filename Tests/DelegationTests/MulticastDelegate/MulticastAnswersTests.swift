// Specifies which answers of several delegates a call returns.

@Suite struct MulticastAnswersTests {
  let events = Events()
  let log = Log<String>()
  let queue = DispatchQueue(label: "com.example.delegate")

  @Test func firstIsTheFirstThatAnswersInOrderOfAddition() throws {
    let listeners = [
      Listener("a", log: log), Listener("b", log: log, answer: 1),
      Listener("c", log: log, answer: 2),
    ]
    for listener in listeners { try events.add(listener, on: .queue(queue)) }
    queue.suspend()  // It is asked on the caller's thread.
    #expect(events.first { $0.position(of: 7) } == 1)
    queue.resume()
    #expect(log.entries == ["a asked", "b asked"])
    #expect(events.remove(listeners[1]) == 1)
    #expect(events.first { $0.position(of: 7) } == 2)
    events.remove(listeners[2])
    #expect(events.first { $0.position(of: 7) } == nil)
  }

  @Test func theFirstAnswerMayBeAnError() async throws {
    let listener = Listener("a")
    try events.add(listener, on: .queue(queue))
    #expect(throws: PlayerError.broken("a")) { try events.first { try $0.volume(of: 1) } }
    await #expect(throws: PlayerError.broken("a")) {
      try await events.firstAsync { try $0.volume(of: 1) }
    }
  }

  @Test func firstAsyncAsksAtThePlaceOfTheDelegate() async throws {
    let place = Log<Bool>()
    let (silent, answering) = (Listener("a", log: log), Listener("b", log: log, answer: 2))
    try events.add(silent, on: .queue(queue))
    try events.add(answering, on: .queue(queue))
    let position = try await events.firstAsync { delegate in
      dispatchPrecondition(condition: .onQueue(queue))
      place.append(true)
      return delegate.position(of: 7)
    }
    #expect(position == 2)
    #expect(place.entries.count == 2)
    #expect(log.entries == ["a asked", "b asked"])
  }

  @Test func allHasOneResultForEachDelegateAndTheErrorsApart() async throws {
    let listeners = [
      Listener("a", answer: 1), Listener("b"), Listener("c", answer: 3), Listener("d"),
    ]
    for listener in listeners { try events.add(listener, on: .queue(.global())) }
    let volumes = await events.all { try $0.volume(of: 10) }
    #expect(volumes.map { try? $0.get() } == [11, nil, 13, nil])
    #expect(throws: PlayerError.broken("b")) { try volumes[1].get() }
    #expect(throws: PlayerError.broken("d")) { try volumes[3].get() }
  }

  @Test func allAsksTheDelegatesAtTheSameTime() async throws {
    // Each waits for the other one.
    let (one, two) = (Log<Void>(), Log<Void>())
    let first = Listener(onPrepare: {
      one.append(())
      await eventually { two.entries.count == 1 }
      return true
    })
    let second = Listener(onPrepare: {
      two.append(())
      await eventually { one.entries.count == 1 }
      return false
    })
    try events.add(first, on: .queue(queue))
    try events.add(second, on: .queue(queue))
    let ready = await events.all { try await $0.prepare(1) }
    #expect(ready.values == [true, false])
  }

  @Test(arguments: [false, true])
  func asynchronousMethodsWithoutIsolationRunAtThePlace(executor: Bool) async throws {
    let queue = DispatchQueue(label: "queue")
    let listener = Listener(onPrepare: {
      dispatchPrecondition(condition: .onQueue(queue))
      await Task.yield()
      dispatchPrecondition(condition: .onQueue(queue))
      return true
    })
    try events.add(listener, on: executor ? .loop { queue.async(execute: $0) } : .queue(queue))
    #expect(await events.all { try await $0.prepare(1) }.values == [true])
  }

  @Test func aCancelledTaskWaitsForNoDelegate() async throws {
    let other = DispatchQueue(label: "other")
    let (one, two) = (Listener("a", log: log, answer: 1), Listener("b", log: log, answer: 2))
    try events.add(one, on: .queue(queue))
    try events.add(two, on: .queue(other))
    queue.suspend()
    let task = Task { await events.all { $0.position(of: 1) } }
    let first = Task { try await events.firstAsync { $0.position(of: 1) } }
    await eventually { log.entries == ["b asked"] }
    await turn(other)
    task.cancel()
    first.cancel()
    #expect(await task.value.values == [2])
    #expect(try await first.value == nil)
    queue.resume()
  }

  @Test func cancellingReachesTheMethodOfADelegate() async throws {
    let listener = Listener(onPrepare: { [log] in
      log.append("begun")
      try await Task.sleep(for: .seconds(3600))
      return true
    })
    try events.add(listener, on: .queue(queue))
    let task = Task { await events.all { try await $0.prepare(1) } }
    await eventually { log.entries == ["begun"] }
    task.cancel()
    let result = try #require(await task.value.first)
    #expect(throws: CancellationError.self) { try result.get() }
  }

  @Test func aDelegateThatIsRemovedOrDiesBeforeItsTurnHasNoResult() async throws {
    let removed = Listener(answer: 1)
    var dying: Listener? = Listener(answer: 2)
    try events.add(removed, on: .queue(queue))
    try events.add(try #require(dying), on: .queue(queue))
    queue.suspend()
    async let positions = events.all { $0.position(of: 1) }
    async let ready = events.all { try await $0.prepare(1) }
    await eventually { removed.log.entries.isEmpty }
    #expect(events.remove(removed) == 1)
    dying = nil
    queue.resume()
    #expect(await positions.isEmpty)
    #expect(await ready.isEmpty)
  }

  @Test func askingEndsWithTheFirstAnswerThatDecides() throws {
    let listeners = [
      Listener("for", log: log, answer: 1), Listener("against", log: log),
      Listener("late", log: log, answer: 1),
    ]
    for listener in listeners { try events.add(listener) }
    #expect(!events.mayStop())
    #expect(log.entries == ["for asked", "against asked"])
  }
}

extension [Result<Bool, any Error>] {
  /// The answers that are not errors.
  fileprivate var values: [Bool] { compactMap { try? $0.get() } }
}

extension [Result<Double?, any Error>] {
  fileprivate var values: [Double] { compactMap { try? $0.get() } }
}
