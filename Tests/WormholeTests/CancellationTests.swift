// Specifies what becomes of work that nobody waits for any more.
import Wormhole

@Suite(.bounded)
struct CancellationTests {
  private let schema = ["CREATE TABLE item(id INTEGER PRIMARY KEY)", "INSERT INTO item VALUES(1)"]

  private let endless = """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT count(*) FROM number
    """

  private func makeDatabase() throws -> SharedDatabase {
    try TemporaryGroup().group.database("items", migrations: schema)
  }

  private func count(_ database: SharedDatabase) async throws -> Int {
    try await database.read { try $0.rows("SELECT * FROM item").count }
  }

  // MARK: - Databases

  /// The queries keep all processors busy; they end when other tasks cancel them.
  @Test func otherTasksGoOnWhileQueriesRun() async throws {
    let sql = endless
    let readings = try (0..<4 * ProcessInfo.processInfo.activeProcessorCount).map { _ in
      let (database, begun) = (try makeDatabase(), Flag())
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

  @Test func aCancelledWriteIsRolledBack() async throws {
    let (database, begun, sql) = (try makeDatabase(), Flag(), endless)
    let writing = Task {
      try await database.write { connection in
        try connection.run("INSERT INTO item VALUES(2)")
        begun.set()
        try connection.run(sql)
      }
    }
    await eventually { begun.isSet }
    writing.cancel()
    await #expect(throws: WormholeError.cancelled) { try await writing.value }
    #expect(try await count(database) == 1)
    try await database.write { try $0.run("INSERT INTO item VALUES(2)") }
    #expect(try await count(database) == 2)
  }

  @Test func nothingIsCommittedAfterACancellation() async throws {
    let (database, begun, isCancelled) = (try makeDatabase(), Flag(), DispatchSemaphore(value: 0))
    let writing = Task {
      try await database.write { connection in
        try connection.run("INSERT INTO item VALUES(2)")
        begun.set()
        isCancelled.wait()
        #expect(throws: WormholeError.cancelled) { try connection.run("DELETE FROM item") }
      }
    }
    await eventually { begun.isSet }
    writing.cancel()
    isCancelled.signal()
    await #expect(throws: WormholeError.cancelled) { try await writing.value }
    #expect(try await count(database) == 1)
  }

  @Test func aWriteHasATimeout() async throws {
    let (database, sql) = (try makeDatabase(), endless)
    let error = await #expect(throws: WormholeError.self) {
      try await database.write(timeout: .milliseconds(20)) { connection in
        try connection.run("DELETE FROM item")
        try connection.run(sql)
      }
    }
    #expect(error?.name?.hasSuffix("/items") == true)
    #expect(try await count(database) == 1)
  }

  @Test(arguments: [nil, .milliseconds(20)] as [Duration?])
  func aWriteThatWaitsForItsTurnNeedNotBeginToEnd(timeout: Duration?) async throws {
    let (database, begun, isOver) = (try makeDatabase(), Flag(), DispatchSemaphore(value: 0))
    let first = Task {
      try await database.write { _ in
        begun.set()
        isOver.wait()
      }
    }
    await eventually { begun.isSet }
    let second = Task {
      try await database.write(timeout: timeout) { try $0.run("DELETE FROM item") }
    }
    if timeout == nil { second.cancel() }
    await #expect(throws: WormholeError.self) { try await second.value }
    isOver.signal()
    try await first.value
    #expect(try await count(database) == 1)
  }

  // MARK: - Messages

  /// A name that another process has locked, until the program ends.
  private func lock(_ kind: TransitKind) async throws -> (site: Site, holder: Program) {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    return (site, try await site.startHolder())
  }

  @Test(arguments: TransitKind.coordinated)
  func passingHasATimeout(_ kind: TransitKind) async throws {
    let (site, holder) = try await lock(kind)
    await #expect(throws: WormholeError.timedOut("org.example.number")) {
      try await site.hole.pass(2, to: .number, timeout: .milliseconds(20))
    }
    await #expect(throws: WormholeError.timedOut("org.example.number")) {
      try await site.hole.update(.number, timeout: .milliseconds(20)) { $0 = 2 }
    }
    kill(holder.processIdentifier, SIGKILL)
    _ = await holder.end()
    #expect(try await site.hole.message(.number) == 1)
  }

  @Test func readingWaitsNoLongerThanItsTask() async throws {
    let (site, holder) = try await lock(.coordinatedFile)
    let reading = Task { try await site.hole.message(.number, timeout: .seconds(600)) }
    reading.cancel()
    await #expect(throws: WormholeError.cancelled) { try await reading.value }
    withExtendedLifetime(holder) {}
  }

  @Test(arguments: TransitKind.coordinated)
  func otherTasksGoOnWhileSomeWaitAndThoseCancelledPassNothing(_ kind: TransitKind) async throws {
    let (site, holder) = try await lock(kind)
    let ended = Log<WormholeError?>()
    await withTaskGroup { group in
      for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
        group.addTask {
          do throws(WormholeError) {
            try await site.hole.pass(2, to: .number, timeout: .seconds(600))
            ended.append(nil)
          } catch {
            ended.append(error)
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

  @Test(arguments: TransitKind.coordinated)
  func clearingEverythingHasATimeout(_ kind: TransitKind) async throws {
    let (site, holder) = try await lock(kind)
    let error = await #expect(throws: WormholeError.self) {
      try await site.hole.clearAll(timeout: .milliseconds(20))
    }
    #expect(error == .timedOut(error?.name ?? ""))
    kill(holder.processIdentifier, SIGKILL)
    _ = await holder.end()
    try await site.hole.clearAll()
    #expect(try await site.hole.message(.number) == nil)
  }

  // MARK: - Defaults

  /// Defaults of a group that another thread is changing until the semaphore is signalled.
  private func hold(_ group: TemporaryGroup) async throws -> DispatchSemaphore {
    let (defaults, begun, isOver) = (try group.make().defaults, Flag(), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      try? defaults.blocking.transaction { _ in
        begun.set()
        isOver.wait()
      }
    }
    await eventually { begun.isSet }
    return isOver
  }

  @Test func changingDefaultsHasATimeoutAndReadingDoesNotWait() async throws {
    let group = try TemporaryGroup()
    let (defaults, key) = (try group.group.defaults, DefaultsKey("number", default: 1))
    let isOver = try await hold(group)
    defer { isOver.signal() }
    let timeout = Duration.milliseconds(20)
    for change: @Sendable () async throws -> Void in [
      { try await defaults.set(2, for: key, timeout: timeout) },
      { try await defaults.update(key, timeout: timeout) { $0 = 2 } },
      { try await defaults.transaction(timeout: timeout) { try $0.set(2, for: key) } },
      { try await defaults.remove(key, timeout: timeout) },
      { try await defaults.removeAll(timeout: timeout) },
    ] {
      let error = await #expect(throws: WormholeError.self) { try await change() }
      #expect(error == .timedOut("\(group.path)/defaults.sqlite"))
    }
    #expect(try await defaults[key] == 1)
  }

  @Test @MainActor func aSettingThatWaitsForItsTurnDoesNotBlockTheMainActor() async throws {
    let group = try TemporaryGroup()
    let isOver = try await hold(group)
    let number = try ObservedDefault(DefaultsKey("number", default: 1), in: group.group.defaults)
    let setting = Task {
      do { try await number.set(2) } catch { Issue.record(error) }
    }
    // It has begun, and another writer keeps it from ending.
    await turn(.main)
    isOver.signal()
    await setting.value
    #expect(number.value == 2)
    let cancelled = Task { try await number.set(3, timeout: .seconds(600)) }
    cancelled.cancel()
    _ = await cancelled.result
  }

  // MARK: - Errors

  @Test func bodiesKeepTheirErrors() throws {
    func change(_ hole: Wormhole) throws(WormholeError) {
      try hole.blocking.update(.number) { (value) throws(WormholeError) in throw .cancelled }
    }
    func change(_ defaults: SharedDefaults) throws(WormholeError) {
      try defaults.blocking.transaction { (values) throws(WormholeError) in throw .cancelled }
    }
    let site = try Site(.log)
    #expect(throws: WormholeError.cancelled) { try change(site.hole) }
    #expect(throws: WormholeError.cancelled) { try change(site.hole.group.defaults) }
  }
}
