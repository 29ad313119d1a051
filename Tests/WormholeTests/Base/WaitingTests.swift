// Specifies that a call waits for all that stands in its way no longer than its time.
@testable import Wormhole

@Suite(.bounded)
struct WaitingTests {
  @Test(arguments: Keeper.allCases)
  func aReaderThatStandsStillInAFileWithoutALogDelaysAWriterOnlyForItsTime(
    _ keeper: Keeper
  ) async throws {
    let site = try Site()
    let path = keeper.path(in: site)
    let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try ForeignProgram.run("CREATE TABLE item(value); DROP TABLE item", on: path)
    let reader = try ForeignReader(of: path)
    let duration = await withTaskExecutorPreference(OwnThread()) {
      let start = ContinuousClock.now
      _ = await #expect(throws: WormholeError.busy(path: path)) {
        try await keeper.write(1, in: site)
      }
      return .now - start
    }
    #expect(duration < .seconds(60))
    _ = consume reader
    try await keeper.write(1, in: site)
  }

  @Test(arguments: ["", "-wal"])
  func aStoreThatIsTruncatedUnderAListenerHoldsNobody(_ suffix: String) async {
    // In its own process: SQLite keeps one state of a file for all its connections.
    await #expect(processExitsWith: .success) { [suffix] in
      let site = try Site(.history)
      let heard = try site.hear(.number)
      for number in 1...3 { try await site.hole.pass(number, to: .number) }
      await eventually { heard.values == [1, 2, 3] }
      let path = site.store.path
      try #require(truncate(path + suffix, 0) == 0)
      let start = ContinuousClock.now
      // Each succeeds or fails, depending on what the lost pages contained.
      for number in 4...6 { _ = try? await site.hole.pass(number, to: .number) }
      _ = try? await site.hole.message(.number)
      #expect(.now - start < .seconds(60))
      await #expect(throws: Never.self) { try await site.hole.startAnew() }
      await #expect(throws: Never.self) { try await site.hole.pass(10, to: .number) }
      await eventually("the new store is not heard") { heard.values.last == 10 }
    }
  }

  @Test func noJobIsLostWhileTheThreadsOfAQueueEnd() {
    // They end as soon as there is no job, while the next one comes.
    let (queue, isDone) = (WorkQueue(width: 2, idle: .nanoseconds(0)), DispatchSemaphore(value: 0))
    for _ in 1...3_000 {
      queue.submit { isDone.signal() }
      guard isDone.wait(timeout: .now() + .seconds(60)) == .success else {
        Issue.record("a job was lost")
        return
      }
    }
  }

  // MARK: - Others

  /// Each change is preceded by another one until all the time is up.
  @Test func aChangeThatOthersAlwaysPrecedeEndsInTime() async throws {
    let test = try TestStore()
    let (store, other) = (test.store, test.openAgain())
    let end = ContinuousClock.now + Backoff.timeout
    let error = await withTaskExecutorPreference(OwnThread()) {
      #expect(throws: WormholeError.self) {
        try store.update("a") { _ in
          try other.pass(.json("1"), to: "a")
          while ContinuousClock.now < end { usleep(10_000) }
          return (.json("2"), ())
        }
      }
    }
    #expect(error == .busy && error?.found == "others that update a")
    #expect(try store.newest(of: "a")?.text == "1")
  }

  @Test func theProcessThatWritesForTooLongIsNamed() async throws {
    let site = try Site()
    try await site.hole.pass(1, to: .number)
    let holder = try await site.startHolder()
    let error = await #expect(throws: WormholeError.self) {
      try await site.hole.pass(2, to: .number)
    }
    #expect(error == .busy)
    #expect(error?.found == "python3 (process \(holder.processIdentifier))")
  }

  /// A file that is locked for as long as it takes.
  @Test func callsThatWaitForTheirTurnWaitNoLongerThanTheOthers() async throws {
    let site = try Site()
    try await site.hole.pass(1, to: .number)
    let holder = try await site.startHolder()
    let duration = await withTaskExecutorPreference(OwnThread()) {
      let start = ContinuousClock.now
      await withTaskGroup { group in
        for _ in 1...4 {
          group.addTask(executorPreference: OwnThread()) {
            await #expect(throws: WormholeError.busy) { try await site.hole.pass(2, to: .number) }
          }
        }
      }
      return .now - start
    }
    #expect(duration < .seconds(25 * slowness))
    withExtendedLifetime(holder) {}
  }

  /// One that looked again after a fixed pause would need that long each time.
  @Test func aCallWithAShortTimeWaitsNoLongerForItsTurn() throws {
    let test = try TestStore()
    try test.store.pass(.json("1"), to: "a")
    let (isHeld, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread { [store = test.store] in
      _ = try? store.connections.use(\.writer, within: nil) { _ in
        isHeld.signal()
        mayReturn.wait()
      }
    }
    defer { mayReturn.signal() }
    isHeld.wait()
    let durations = (1...50).map { _ in
      ContinuousClock().measure {
        _ = #expect(throws: WormholeError.timedOut("a")) {
          try test.store.pass(
            .json("2"), to: "a", within: WorkLimit(on: "a", timeout: .milliseconds(5)))
        }
      }
    }
    #expect(durations.min() ?? .zero < .milliseconds(15))
  }

  @Test func theStepsOfACallWaitUntilTheSameTime() {
    let limit = WorkLimit()
    let deadlines = (1...2).map { _ in
      usleep(1_000)
      return Backoff(limit: limit).deadline
    }
    #expect(deadlines == [limit.start + Backoff.timeout, limit.start + Backoff.timeout])
  }

  /// Steps of a call that are not waits.
  enum Work: CaseIterable, Sendable {
    case update, transaction, clearAll, setKeep

    /// Returns when the work of the call ended.
    func run(in store: MessageStore, _ limit: WorkLimit) throws -> ContinuousClock.Instant {
      var end = ContinuousClock.now
      switch self {
      case .update:
        try store.update("a", within: limit) { _ in
          end = .now
          return (.json("2"), ())
        }
      case .transaction:
        try store.transaction(within: limit) { values in
          try values.set(StoredValue(codec: "json", data: Data("2".utf8)), of: "a")
          end = .now
        }
      case .clearAll: try store.clearAll(within: limit)
      case .setKeep: try store.setKeep(1, of: "a", within: limit)
      }
      return end
    }
  }

  @Test(arguments: Work.allCases)
  func theWorkOfACallDoesNotCountAsWaiting(_ work: Work) throws {
    let (test, limit) = (try TestStore(), WorkLimit(timeout: .seconds(3_600)))
    try test.store.pass(.json("1"), to: "a")
    let (start, deadline) = (limit.start, limit.deadline)
    let end = try work.run(in: test.store, limit)
    #expect(limit.start > start && limit.start >= end)
    #expect(limit.deadline == deadline)
  }

  @Test func aMigrationDoesNotCountAsWaiting() throws {
    let test = try TestStore()
    try test.store.pass(.json("1"), to: "a")
    let path = test.directory + "/new"
    try Data().write(to: URL(fileURLWithPath: path))
    let (connection, limit) = (try SQLiteConnection(opening: path), WorkLimit())
    connection.begin(Backoff(limit: limit))
    let end = Locked(limit.start)
    let migrations = try Migrations(
      [SharedDatabase.Migration("first") { _ in end.withLock { $0 = .now } }], path: path)
    #expect(try migrations.run(in: connection))
    #expect(limit.start > end.withLock { $0 })
  }

  // MARK: - Threads

  /// Each asks for the next one.
  @Test func attemptsThatGetNoThreadDoNotNest() async {
    await #expect(processExitsWith: .success) {
      let state = Locked((left: 5, depth: 0, maxDepth: 0))
      @Sendable func attempt() {
        let isLast = state.withLock { state in
          state.left -= 1
          state.depth += 1
          state.maxDepth = max(state.maxDepth, state.depth)
          return state.left == 0
        }
        if !isLast { Retry.later(attempt) }
        state.withLock { $0.depth -= 1 }
      }
      // Root has no limit. What was executed is written to a file of root in the end.
      if geteuid() == 0 { try #require(setreuid(65534, 0) == 0 && seteuid(65534) == 0) }
      defer { seteuid(0) }
      var none = rlimit()
      try #require(setrlimit(CInt(__RLIMIT_NPROC.rawValue), &none) == 0)
      Retry.later(attempt)
      #expect(state.withLock { $0 } == (left: 0, depth: 0, maxDepth: 1))
    }
  }

  @Test func theThreadOfAnAttemptTakesNoSignals() async {
    let takesSignal = await withCheckedContinuation { continuation in
      Retry.later {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        continuation.resume(returning: sigismember(&mask, SIGTERM) == 0)
      }
    }
    #expect(!takesSignal)
  }

  @Test func aCallThatWasStoppedWaitsForABoundedTimeAfterwards() async {
    let duration = await withTaskExecutorPreference(OwnThread()) {
      let start = ContinuousClock.now
      var wait = Backoff(from: start - .seconds(3_600))
      // A busy machine delays each attempt.
      while wait.wait(), .now - start < .seconds(60) { usleep(20_000) }
      return .now - start
    }
    #expect((.seconds(4)..<(.seconds(60))).contains(duration))
  }

  @Test func aPartOfACallWaitsNoLongerThanItsOwnTime() throws {
    let store = try Store()
    let holder = try SQLiteConnection(opening: store.path)
    let waiting = try SQLiteConnection(opening: store.path)
    try holder.execute("BEGIN IMMEDIATE")
    let start = ContinuousClock.now
    waiting.begin(Backoff(timeout: .seconds(60)))
    #expect(throws: WormholeError.busy) {
      try waiting.waiting(atMost: .zero) { () throws(WormholeError) in
        try waiting.execute("BEGIN IMMEDIATE")
      }
    }
    #expect(.now - start < .seconds(50))
  }

  // MARK: - Readers

  @Test func theWriteAheadLogHasALimit() async throws {
    let store = try Store()
    let (database, path) = (store.database, store.path)
    let (begun, isOver) = (Flag(), DispatchSemaphore(value: 0))
    let reading = Task {
      try await database.read { connection in
        _ = try connection.rows("SELECT * FROM item")
        begun.set()
        isOver.wait()
      }
    }
    await eventually { begun.isSet }
    await #expect(throws: WormholeError.heldByReader(path: path)) {
      for _ in 1...40 {
        try await store.write("INSERT INTO item(name) VALUES(zeroblob(16 << 20))")
      }
    }
    #expect((256 << 20..<300 << 20).contains(size(path + "-wal")))
    isOver.signal()
    try await reading.value
    try await store.write("DELETE FROM item")
    #expect(size(path + "-wal") < 32 << 20)
  }

  @Test(.enabled(if: Program.canMount, "no user namespaces"))
  func aStoreWhoseLogHasFilledTheDiskIsWrittenAgainWhenTheReaderHasEnded() async throws {
    let site = try Site()
    let script = """
      mount -t tmpfs -o size=16m none "$1" && shift && exec "$@"
      """
    let program = try Program(
      "/usr/bin/unshare",
      ["-rm", "sh", "-c", script, "sh", site.temporary.parent, Program.path(of: "wormhole-peer")]
        + [site.temporary.parent, "newest", "fill-disk", "number", "100000"],
      on: nil, environment: ["DARWIN_NOTIFY_BUS": "none"])
    let outcome = await program.end()
    #expect(outcome.status == 0, "\(outcome)")
    #expect(program.lines == ["no room", "passed"])
  }

  @Test func theWriteAheadLogOfAStoreHasALimit() async throws {
    let (site, large) = (try Site(), Data(repeating: 7, count: 1 << 20))
    let path = site.store.path
    try await site.hole.pass(Data(), to: .bytes)
    let reader = try ForeignReader(of: path)
    await #expect(throws: WormholeError.heldByReader(path: path)) {
      for _ in 1...400 { try await site.hole.pass(large, to: .bytes) }
    }
    #expect((256 << 20..<300 << 20).contains(size(path + "-wal")))
    _ = consume reader
    try await site.hole.pass(Data(), to: .bytes)
    #expect(size(path + "-wal") < 32 << 20)
  }

  @Test func listenersLetGoBetweenTwoLooks() async {
    // Other tests could close the connection of the log, and its file would go.
    await #expect(processExitsWith: .success) {
      let site = try Site(.history)
      let large = Data(repeating: 1, count: 1 << 20)
      var messages = try site.hole.messages(.bytes, starting: .all).makeAsyncIterator()
      for number in 1...20 {
        try await site.hole.pass(large, to: .bytes)
        #expect(try await messages.next()?.sequence == UInt64(number))
      }
      let path = site.store.path
      // It is emptied only if nobody is reading.
      await eventually("somebody reads") {
        try? ForeignProgram.run("PRAGMA wal_checkpoint(TRUNCATE)", on: path)
        return access(path + "-wal", F_OK) == 0 && size(path + "-wal") == 0
      }
    }
  }
}
