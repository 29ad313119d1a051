// Specifies what becomes of work that nobody waits for any more.
import Wormhole

@Suite(.bounded)
struct CancellationTests {
  private let endless = """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT count(*) FROM number
    """

  // MARK: - Databases

  /// The queries keep all processors busy; they end when other tasks cancel them.
  @Test func otherTasksGoOnWhileQueriesRun() async throws {
    let sql = endless
    let readings = try (0..<4 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
      let (database, begun) = (try Store().database, Flag())
      let task = Task {
        try await database.read { connection in
          begun.set()
          try connection.run(sql)
        }
      }
      return (task, begun)
    }
    await eventually { readings.allSatisfy { $0.1.isSet } }
    for (task, _) in readings { task.cancel() }
    for (task, _) in readings {
      await #expect(throws: WormholeError.cancelled) { try await task.value }
    }
  }

  @Test(arguments: [nil, .milliseconds(20)] as [Duration?])
  func aWriteThatIsCancelledOrTakesTooLongIsRolledBack(timeout: Duration?) async throws {
    let (store, begun, sql) = (try Store(), Flag(), endless)
    let writing = Task {
      try await store.database.write(timeout: timeout) { connection in
        try connection.run("INSERT INTO item VALUES(2, 'two')")
        begun.set()
        try connection.run(sql)
      }
    }
    if timeout == nil {
      await eventually { begun.isSet }
      writing.cancel()
    }
    let error = timeout == nil ? WormholeError.cancelled : .timedOut(store.path)
    await #expect(throws: error) { try await writing.value }
    #expect(try await store.count() == 1)
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    #expect(try await store.count() == 2)
  }

  @Test func nothingIsCommittedAfterACancellation() async throws {
    let (store, begun, isCancelled) = (try Store(), Flag(), DispatchSemaphore(value: 0))
    let writing = Task {
      try await store.database.write { connection in
        try connection.run("INSERT INTO item VALUES(2, 'two')")
        begun.set()
        isCancelled.wait()
        #expect(throws: WormholeError.cancelled) { try connection.run("DELETE FROM item") }
      }
    }
    await eventually { begun.isSet }
    writing.cancel()
    isCancelled.signal()
    await #expect(throws: WormholeError.cancelled) { try await writing.value }
    #expect(try await store.count() == 1)
  }

  @Test(arguments: [nil, .milliseconds(20)] as [Duration?])
  func aWriteThatWaitsForItsTurnNeedNotBeginToEnd(timeout: Duration?) async throws {
    let (store, begun, isOver) = (try Store(), Flag(), DispatchSemaphore(value: 0))
    let first = Task {
      try await store.database.write { _ in
        begun.set()
        isOver.wait()
      }
    }
    await eventually { begun.isSet }
    let second = Task {
      try await store.database.write(timeout: timeout) { try $0.run("DELETE FROM item") }
    }
    if timeout == nil { second.cancel() }
    await #expect(throws: WormholeError.self) { try await second.value }
    isOver.signal()
    try await first.value
    #expect(try await store.count() == 1)
  }

  // MARK: - Messages

  /// A store that another process has locked, until the program ends.
  private func lock() async throws -> (site: Site, holder: Program) {
    let site = try Site()
    try await site.hole.pass(1, to: .number)
    return (site, try await site.startHolder())
  }

  @Test func changingHasATimeout() async throws {
    let (site, holder) = try await lock()
    let (hole, timeout) = (site.hole, Duration.milliseconds(20))
    for change: @Sendable () async throws -> Void in [
      { try await hole.pass(2, to: .number, timeout: timeout) },
      { try await hole.update(.number, timeout: timeout) { $0 = 2 } },
      { try await hole.clear(.number, timeout: timeout) },
    ] {
      await #expect(throws: WormholeError.timedOut) { try await change() }
    }
    kill(holder.processIdentifier, SIGKILL)
    _ = await holder.end()
    #expect(try await hole.message(.number) == 1)
    try await hole.clearAll()
    #expect(try await hole.message(.number) == nil)
  }

  @Test func aTimeoutIsNotThatOfATaskWhichTheBodyOfAnUpdateStarts() async throws {
    let site = try Site()
    let (hole, begun, timeout) = (site.hole, Flag(), Duration.seconds(2 * slowness))
    // The first use makes the store, which may take longer.
    try await hole.pass(1, to: .number)
    let task = try await hole.update(.number, timeout: timeout) { _ in
      Task {
        begun.set()
        try await Task.sleep(for: timeout * 1.2)
        try await hole.pass(7, to: .other)
        try await hole.group.defaults.set(7, for: .number)
        return try await hole.message(.other)
      }
    }
    #expect(try await task.value == 7 && begun.isSet)
  }

  @Test func waitingTakesNoLongerThanTheTask() async throws {
    let (site, holder) = try await lock()
    let passing = Task { try await site.hole.pass(2, to: .number, timeout: .seconds(600)) }
    passing.cancel()
    await #expect(throws: WormholeError.cancelled) { try await passing.value }
    withExtendedLifetime(holder) {}
  }

  @Test func otherTasksGoOnWhileSomeWaitAndThoseCancelledPassNothing() async throws {
    let (site, holder) = try await lock()
    let ended = Log<WormholeError?>()
    await withTaskGroup { group in
      for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          do {
            try await site.hole.pass(2, to: .number, timeout: .seconds(600))
            ended.append(nil)
          } catch {
            ended.append(error as? WormholeError)
          }
        }
      }
      for _ in 0..<100 { await Task.detached {}.value }
      #expect(ended.entries.isEmpty)
      group.cancelAll()
    }
    #expect(ended.entries.allSatisfy { $0 == .cancelled })
    kill(holder.processIdentifier, SIGKILL)
    _ = await holder.end()
    #expect(try await site.hole.message(.number) == 1)
  }

  // MARK: - Defaults

  @Test(arguments: [false, true])
  func changingDefaultsHasATimeoutAndReadingDoesNotWait(isCancelled: Bool) async throws {
    let (group, key) = (try TemporaryGroup(), DefaultsKey("number", default: 1))
    let (defaults, path) = (group.group.defaults, "\(group.path)/defaults/store.sqlite")
    try await defaults.set(1, for: key)
    let writer = try ForeignWriter(of: path)
    let timeout: Duration = isCancelled ? .seconds(600) : .milliseconds(20)
    for change: @Sendable () async throws -> Void in [
      { try await defaults.set(2, for: key, timeout: timeout) },
      { try await defaults.update(key, timeout: timeout) { $0 = 2 } },
      { try await defaults.transaction(timeout: timeout) { try $0.set(2, for: key) } },
      { try await defaults.remove(key, timeout: timeout) },
      { try await defaults.removeAll(timeout: timeout) },
    ] {
      let task = Task { try await change() }
      if isCancelled { task.cancel() }
      let error = isCancelled ? WormholeError.cancelled : .timedOut(path)
      await #expect(throws: error) { try await task.value }
    }
    #expect(try await defaults[key] == 1)
    withExtendedLifetime(writer) {}
  }

  @Test @MainActor func aSettingThatWaitsForItsTurnDoesNotBlockTheMainActor() async throws {
    let (group, key) = (try TemporaryGroup(), DefaultsKey("number", default: 1))
    try await group.group.defaults.set(1, for: key)
    var writer: ForeignWriter? = try ForeignWriter(of: "\(group.path)/defaults/store.sqlite")
    let number = try ObservedDefault(key, in: group.group.defaults)
    let setting = Task {
      do { try await number.set(2) } catch { Issue.record(error) }
    }
    // It has begun, and another writer keeps it from ending.
    await turn(.main)
    #expect(writer != nil)
    writer = nil
    await setting.value
    #expect(number.value == 2)
    let cancelled = Task { try await number.set(3, timeout: .seconds(600)) }
    cancelled.cancel()
    _ = await cancelled.result
  }

  // MARK: - Sequences

  @Test(arguments: [false, true])
  func sequencesEndWithTheirTask(isCancelledBefore: Bool) async throws {
    let (site, store) = (try Site(), try Store())
    let (hole, database, defaults) = (site.hole, store.database, site.hole.group.defaults)
    let (changes, news) = (try database.changes(), try defaults.changes(of: .number))
    try await hole.pass(1, to: .number)
    try await store.write("INSERT INTO item VALUES(2, 'two')")
    try await defaults.set(1, for: .number)
    for iterate: @Sendable (_ body: () -> Void) async throws -> Void in [
      { body in for try await _ in try hole.messages(.number, starting: .last) { body() } },
      { body in for try await _ in changes { body() } },
      { body in for try await _ in try database.values({ _ in 1 }) { body() } },
      { body in for try await _ in news { body() } },
      { body in for try await _ in try defaults.changes(of: .number) { body() } },
    ] {
      let isHeard = Flag()
      let task = Task {
        if isCancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
        try await iterate { isHeard.set() }
      }
      if !isCancelledBefore {
        await eventually { isHeard.isSet }
        task.cancel()
      }
      try await task.value
      #expect(isHeard.isSet != isCancelledBefore)
    }
  }

  // MARK: - Errors

  @Test func bodiesKeepTheirErrors() throws {
    func change(_ defaults: SharedDefaults) throws {
      try defaults.blocking.transaction { _ in throw WormholeError.cancelled }
    }
    struct Failure: Error {}
    let site = try Site(.history)
    #expect(throws: Failure.self) {
      try site.hole.blocking.update(.number) { _ in throw Failure() }
    }
    #expect(throws: WormholeError.cancelled) { try change(site.hole.group.defaults) }
  }
}
