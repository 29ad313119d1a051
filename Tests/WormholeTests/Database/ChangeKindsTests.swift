// Specifies what the changes of a database say about rows.
import Wormhole

@Suite(.bounded)
struct ChangeKindsTests {
  private let store: Store

  init() throws { store = try Store(["INSERT INTO item VALUES(2, 'two'), (3, 'three')"]) }

  @Test(
    arguments: [
      ("INSERT INTO item VALUES(7, 'x')", [7: .inserted]),
      ("UPDATE item SET name = 'x'", [1: .updated, 2: .updated, 3: .updated]),
      ("DELETE FROM item WHERE id > 1", [2: .deleted, 3: .deleted]),
      ("REPLACE INTO item VALUES(2, 'x'), (9, 'x')", [2: .updated, 9: .inserted]),
      ("UPDATE item SET id = 8 WHERE id = 3", [3: .deleted, 8: .inserted]),
      ("UPDATE OR REPLACE item SET id = 2 WHERE id = 3", [3: .deleted, 2: .updated]),
      (
        "INSERT INTO item VALUES(2, 'x'), (5, 'x') ON CONFLICT DO UPDATE SET name = 'y'",
        [2: .updated, 5: .inserted]
      ),
      ("INSERT INTO item VALUES(4, 'x'); UPDATE item SET name = 'y' WHERE id = 4", [4: .inserted]),
      ("UPDATE item SET name = 'y' WHERE id = 1; DELETE FROM item WHERE id = 1", [1: .deleted]),
      ("DELETE FROM item WHERE id = 1; INSERT INTO item VALUES(1, 'x')", [1: .updated]),
      ("INSERT OR IGNORE INTO item VALUES(1, 'x'), (6, 'x')", [6: .inserted]),
    ] as [(String, [Int64: SharedDatabase.Change.Kind])])
  func aCommitSaysWhatHappenedToEachRow(
    statements: String, kinds: [Int64: SharedDatabase.Change.Kind]
  ) async throws {
    let change = try await store.change(by: statements)
    #expect(change.kinds == ["item": kinds])
    #expect(change.rowIDs == ["item": Set(kinds.keys)])
    for kind in SharedDatabase.Change.Kind.allCases {
      #expect(change.rowIDs(kind, in: "ITEM") == Set(kinds.keys.filter { kinds[$0] == kind }))
    }
  }

  @Test func theTriggersDoNotDisturbTheRowIDOfTheLastInsert() async throws {
    let id = try await store.database.write { connection in
      try connection.run("INSERT INTO item(name) VALUES('x')")
      return (connection.lastInsertedRowID, connection.changedRowCount)
    }
    #expect(id == (4, 1))
  }

  @Test func aRowThatComesAndGoesHasNoKind() async throws {
    let change = try await store.change(
      by: "INSERT INTO item VALUES(7, 'x'); DELETE FROM item WHERE id = 7")
    #expect(change.kinds.isEmpty && change.rowIDs == ["item": [7]])
  }

  @Test func changesByOtherProgramsHaveKinds() async throws {
    var changes = try store.database.changes().makeAsyncIterator()
    try ForeignProgram.run(
      "DELETE FROM item WHERE id = 1; INSERT INTO item VALUES(5, 'x')", on: store.path)
    try await store.write("UPDATE item SET name = 'y' WHERE id = 2")
    #expect(try await changes.next()?.kinds == ["item": [1: .deleted, 5: .inserted]])
    #expect(try await changes.next()?.kinds == ["item": [2: .updated]])
  }

  // MARK: - Names of tables

  @Test(arguments: ["itme", "wormhole_changes", "sqlite_master", "seen"])
  func aTableThatIsNotThereIsAnError(name: String) throws {
    let store = try Store(["CREATE TABLE other(id)", "CREATE VIEW seen AS SELECT * FROM item"])
    let error = WormholeError.unknownTable(
      name: name, known: ["item", "other"], path: store.path)
    #expect(throws: error) { try store.database.changes(in: ["item", name]) }
    #expect(throws: error) { try store.database.changes(in: [name], since: 1) }
    #expect("\(error)".contains("of a table \(name);") && "\(error)".hasSuffix("item, other"))
  }
}
