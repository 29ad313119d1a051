// Specifies how what is damaged is repaired.
import Wormhole

@Suite(.bounded)
struct RepairTests {
  // MARK: - Change logs

  @Test(arguments: [
    """
    DROP TABLE wormhole_changes;
    CREATE VIEW wormhole_changes AS
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT n AS id, 'item' AS name, n AS row FROM number;
    """,
    "CREATE TRIGGER mine AFTER INSERT ON wormhole_changes BEGIN DELETE FROM item; END",
    "DROP TABLE wormhole_commits; CREATE TABLE Wormhole_Commits(last)",
  ])
  func aForeignChangeLogIsRefusedUntilItIsReset(statements: String) async throws {
    let store = try Store()
    let token = try await store.database.token
    try ForeignProgram.run(statements, on: store.path)
    #expect(throws: WormholeError.foreign(path: store.path)) { try store.makeOther() }
    if statements.contains("VIEW") {
      await #expect(throws: WormholeError.foreign(path: store.path)) {
        try await store.database.token
      }
    }
    try await expectRepair(of: store, since: token)
  }

  /// Resets a change log. The rows stay, and their changes are reported again.
  private func expectRepair(of store: Store, since token: Int64) async throws {
    try store.group.group.resetChanges(ofDatabase: "items")
    let repaired = try store.makeOther()
    #expect(try await repaired.read { try $0.rows("SELECT * FROM item").count } == 1)
    var changes = try repaired.changes(since: token).makeAsyncIterator()
    #expect(try await changes.next()?.isComplete == false)
    try await repaired.write { try $0.run("INSERT INTO item VALUES(7, 'x')") }
    #expect(try await changes.next()?.rowIDs == ["item": [7]])
  }

  @Test func aDamagedChangeLogCanBeReset() async throws {
    let store = try Store()
    let token = try await store.database.token
    let pages = try await store.database.read { connection in
      try connection.rows(
        "SELECT rootpage FROM sqlite_master WHERE name IN ('wormhole_changes', 'wormhole_commits')"
      ).compactMap { $0["rootpage", as: Int.self] }
    }
    try ForeignProgram.overwrite(store.path) { bytes in
      for page in pages {
        let start = (page - 1) * 4096
        bytes.replaceSubrange(start..<start + 4096, with: Data(repeating: 0xff, count: 4096))
      }
    }
    #expect(throws: WormholeError.damaged(path: store.path)) { try store.makeOther() }
    try await expectRepair(of: store, since: token)
  }
}
