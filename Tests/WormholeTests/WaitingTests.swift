// Specifies that a call waits for all that stands in its way no longer than its time.
import Wormhole

@Suite(.bounded)
struct WaitingTests {
  private typealias Call = @Sendable () async throws -> Void

  /// What keeps its values in a database.
  enum Kind: CaseIterable, Sendable {
    case log, defaults, database
  }

  /// Keeps a call that waits from taking one of the few threads that all tests share.
  private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "com.example.own")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// Returns the file of a kind, and a call that opens it to write.
  private func writing(_ kind: Kind, in site: Site) -> (path: String, call: Call) {
    let (group, directory) = (site.temporary.group, site.temporary.path)
    return switch kind {
    case .log:
      ("\(site.path)/org.example.number.log", { try await site.hole.pass(1, to: .number) })
    case .defaults:
      (
        "\(directory)/defaults.sqlite",
        { try group.defaults.blocking.set(1, for: DefaultsKey("key", default: 0)) }
      )
    case .database:
      (
        "\(directory)/items",
        { _ = try group.database("items", migrations: ["CREATE TABLE item(value)"]) }
      )
    }
  }

  @Test(arguments: Kind.allCases)
  func aReaderThatStandsStillInAFileWithoutALogDelaysAWriterOnlyForItsTime(
    _ kind: Kind
  ) async throws {
    let site = try Site(.log)
    let (path, call) = writing(kind, in: site)
    try FileManager.default.createDirectory(atPath: site.path, withIntermediateDirectories: true)
    try ForeignProgram.run("CREATE TABLE item(value); DROP TABLE item", on: path)
    let reader = try ForeignReader(of: path)
    let start = ContinuousClock.now
    await withTaskExecutorPreference(OwnThread()) {
      _ = await #expect(throws: WormholeError.busy(path: path)) { try await call() }
    }
    #expect(.now - start < .seconds(60))
    _ = consume reader
    try await call()
  }

  @Test func anotherThreadIsWaitedForOnlyForTheTimeOfACall() async throws {
    let group = try TemporaryGroup()
    let (defaults, key) = (try group.group.defaults, DefaultsKey("key", default: 0))
    let (begun, isOver) = (Log<Int>(), DispatchSemaphore(value: 0))
    DispatchQueue.global().async {
      try? defaults.blocking.update(key) { (value) throws(WormholeError) in
        begun.append(value)
        isOver.wait()
      }
    }
    await eventually { !begun.entries.isEmpty }
    #expect(throws: WormholeError.busy(path: "\(group.path)/defaults.sqlite")) {
      try defaults.blocking.set(1, for: key)
    }
    isOver.signal()
    try defaults.blocking.set(1, for: key)
  }

  @Test(arguments: ["", "-wal"])
  func aLogThatIsTruncatedUnderAListenerHoldsNobody(_ suffix: String) async throws {
    let site = try Site(.log)
    let heard = try site.hear(.number)
    for number in 1...3 { try await site.hole.pass(number, to: .number) }
    await eventually { heard.values == [1, 2, 3] }
    let path = "\(site.path)/org.example.number.log"
    try #require(truncate(path + suffix, 0) == 0)
    let start = ContinuousClock.now
    // Each succeeds or fails, depending on what was in the pages that are gone.
    for number in 4...6 { _ = try? await site.hole.pass(number, to: .number) }
    _ = try? await site.hole.message(.number)
    #expect(.now - start < .seconds(60))
    ForeignProgram.remove(path)
    try await site.hole.pass(10, to: .number)
    await eventually("the new log is not heard") { heard.values.last == 10 }
  }
}
