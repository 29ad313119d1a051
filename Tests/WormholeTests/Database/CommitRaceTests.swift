// Specifies that commits are recorded whatever happens to the programs that make them.
import Wormhole

@Suite(.bounded)
struct CommitRaceTests {
  private let bus: PrivateBus
  private let store: Store

  init() throws {
    bus = try PrivateBus(.usual)
    store = try Store(on: bus)
  }

  /// Expects that each row but the first was reported once, in the order of the commits, and none
  /// that is not there.
  private func check(_ changes: [SharedDatabase.Change], after number: UInt64) async throws {
    #expect(changes.map(\.sequence) == changes.indices.map { number + UInt64($0) + 1 })
    #expect(changes.allSatisfy { $0.isComplete && !$0.mayHaveMissed && $0.tables == ["item"] })
    #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.date < $1.date })
    let rows = try await store.database.read { connection in
      try connection.rows("SELECT id FROM item WHERE name <> 'foreign' ORDER BY id", as: Int64.self)
    }
    #expect(changes.flatMap { ($0.rowIDs["item"] ?? []).sorted() } == Array(rows.dropFirst()))
    #expect(changes.allSatisfy { $0.rowIDs["item"]?.count == 2 })
  }

  /// The changes up to a commit.
  private static func read(
    _ changes: StoredSequence<SharedDatabase.Change>, to last: Locked<UInt64?>
  ) async throws -> [SharedDatabase.Change] {
    var found: [SharedDatabase.Change] = []
    for try await change in changes {
      found.append(change)
      if change.sequence == last.withLock({ $0 }) { break }
    }
    return found
  }

  @Test func writersThatAreKilledLoseAndDoubleNothing() async throws {
    let (number, last) = (try await store.lastCommit(), Locked<UInt64?>(nil))
    let live = try (1...2).map { _ in try store.makeOther().changes(in: ["item"]) }
    let readers = live.map { changes in Task { try await Self.read(changes, to: last) } }
    for round in 1...8 {
      let goal = try await store.lastCommit() + UInt64(round * 5)
      // Together less than the commits that are kept: a slow reader must not miss any.
      let writers = try (1...4).map { _ in try store.group.peer("database-fill", "250", on: bus) }
      for writer in writers { await writer.waitForLine("ready") }
      await eventually { ((try? await store.lastCommit()) ?? 0) > goal }
      try ForeignProgram.run("INSERT INTO item(name) VALUES('foreign')", on: store.path)
      for writer in writers.shuffled() {
        writer.send(SIGKILL)
        _ = try await store.count()
      }
      for writer in writers { _ = await writer.end() }
      let commits = try await store.lastCommit()
      #expect(commits > goal)
    }
    let end = try await store.lastCommit() + 1
    last.withLock { $0 = end }
    try await store.write("INSERT INTO item(name) VALUES('left'), ('right')")
    for reader in readers { try await check(try await reader.value, after: number) }
  }
}
