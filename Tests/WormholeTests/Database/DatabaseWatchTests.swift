// Specifies how changes of a database by any program are noticed.
@testable import Wormhole

@Suite(.bounded)
struct DatabaseWatchTests {
  private let calls = Log<ContinuousClock.Instant>()

  private func watch(_ store: Store, _ canary: Canary) throws -> DatabaseWatch {
    let commits = try store.group.group.center.observe("name", on: .inline) { _ in }
    return try DatabaseWatch(of: store.path, commits) { [calls] in
      canary.sing()
      calls.append(.now)
    }
  }

  /// Changes the file often enough to be noticed several times.
  private func touch(_ store: Store) async throws {
    let log = try #require(FileHandle(forWritingAtPath: "\(store.path)-wal"))
    for _ in 1...10 {
      let count = calls.entries.count
      try log.seekToEnd()
      try log.write(contentsOf: Data([0]))
      await eventually { calls.entries.count > count }
    }
  }

  @Test func looksAgainOneAtATimeWhileSomebodyIsWriting() async throws {
    let store = try Store()
    #expect(try await store.count() == 1)
    let watch = try watch(store, Census().makeCanary())
    let writer = try ForeignWriter(of: store.path)
    try await touch(store)
    await eventually("several are under way") {
      let times = calls.entries.suffix(3)
      return zip(times, times.dropFirst()).allSatisfy { $1 - $0 > .milliseconds(50) }
    }
    watch.cancel()
    withExtendedLifetime(writer) {}
  }

  @Test func looksNoMoreOnceCancelled() async throws {
    let (store, census) = (try Store(), Census())
    #expect(try await store.count() == 1)
    let writer = try ForeignWriter(of: store.path)
    let watch = try watch(store, census.makeCanary())
    try await touch(store)
    watch.cancel()
    await eventually("the handler was not released") { census.deaths == 1 }
    withExtendedLifetime((watch, writer)) {}
  }
}
