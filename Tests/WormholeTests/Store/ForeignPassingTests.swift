// Specifies how programs without the library use a store.
@testable import Wormhole

@Suite(.bounded)
struct ForeignPassingTests {
  private let test: TestStore
  private var store: MessageStore { test.store }

  init() throws {
    test = try TestStore()
    try test.pass(1...1, to: "first")
  }

  private static let python = """
    import sqlite3, sys
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.execute("PRAGMA busy_timeout = 60000")
    db.execute("PRAGMA synchronous = NORMAL")
    for number in range(int(sys.argv[2])):
        db.execute("INSERT INTO pass(name, value, keep) VALUES('a', ?, 100000)", (str(number),))
    """

  @Test(.enabled(if: access("/usr/bin/sqlite3", X_OK) == 0, "needs the shell of SQLite"))
  func pythonTheShellAndSwiftPassAtTheSameTime() async throws {
    let shell =
      "PRAGMA busy_timeout = 60000; PRAGMA synchronous = NORMAL;"
      + (0..<200).map { "INSERT INTO pass(name, value, keep) VALUES('a', '\($0)', 100000);" }
      .joined()
    let path = test.path
    async let python = test.run("/usr/bin/python3", ["-c", Self.python, path, "200"])
    async let sqlite = test.run("/usr/bin/sqlite3", [path, shell])
    try test.pass(0..<200, keep: 100_000)
    #expect(await python == 0)
    #expect(await sqlite == 0)
    let records = try store.history(of: "a")
    #expect(records.map(\.number) == (1...600).map { UInt64($0) })
    #expect(records.map { Int($0.text) ?? -1 }.sorted() == (0..<600).map { $0 / 3 })
    #expect(zip(records, records.dropFirst()).allSatisfy { $0.time < $1.time })
  }

  @Test func theTriggerDoesWhatTheLibraryDoes() throws {
    for (kinds, keep) in [("mmpmpppcmmpm", 1), ("mmmmmmppmmppmm", 3), ("cpmc", 2), ("p", 1)] {
      let (ours, others) = ("ours \(kinds)", "others \(kinds)")
      for (number, kind) in kinds.enumerated() {
        try pass(kind, number, keep, ours)
        let name = ["m": "message", "p": "ping", "c": "clear"][kind] ?? ""
        let value = kind == "m" ? "'\(number)'" : "NULL"
        try ForeignProgram.run(
          "INSERT INTO pass(name, value, kind, keep)"
            + " VALUES('\(others)', \(value), '\(name)', \(keep))",
          on: test.path)
        let found = try [ours, others].map {
          try store.records(of: $0, after: 0, limit: 99).records.map { "\($0.number) \($0.text)" }
        }
        #expect(found[0] == found[1])
        #expect(try store.newest(of: ours)?.text == store.newest(of: others)?.text)
      }
    }
  }

  private func pass(_ kind: Character, _ number: Int, _ keep: Int, _ name: String) throws {
    switch kind {
    case "m": try store.pass(.json("\(number)", keep: keep), to: name)
    case "p": try store.pass(RecordDraft(.ping, keep: keep), to: name)
    default: try store.pass(RecordDraft(.cleared, keep: keep), to: name)
    }
  }

  @Test(
    arguments: [
      "name) VALUES('a'", "name, value) VALUES('', 1", "name, value) VALUES(NULL, 1",
      "name, value) VALUES(x'61', 1", "name, value) VALUES(CAST(x'610062' AS TEXT), 1",
      "name, value) VALUES('a', zeroblob(1048577)", "name, kind, value) VALUES('a', 'ping', 1",
      "name, kind) VALUES('a', 'x'", "name, value, keep) VALUES('a', 1, 0",
      "name, value, keep) VALUES('a', 1, 'x'", "name, value, version) VALUES('a', 1, -1",
      "name, value, type) VALUES('a', 1, x'00'", "name, value, pid) VALUES('a', 1, 'x'",
      "name, value, codec) VALUES('a', 1, printf('%300s', 'x')",
    ])
  func whatIsRefusedTakesNoNumber(values: String) throws {
    try test.pass(1...1)
    for conflict in ["", "OR IGNORE", "OR REPLACE", "OR FAIL"] {
      let result = try ForeignProgram.result(
        of: "INSERT \(conflict) INTO pass(\(values))", on: test.path)
      #expect(result & 0xff == 19)
    }
    #expect(try test.pass(2...2) == 2)
    #expect(try store.names().map(\.name) == ["a", "first"])
  }

  @Test(
    arguments: [
      "UPDATE records SET kind = 9", "UPDATE records SET value = NULL",
      "UPDATE records SET codec = NULL", "UPDATE records SET version = -1",
      "UPDATE records SET value = zeroblob(8 << 20)",
      "UPDATE records SET program = zeroblob(8 << 20) || ''",
      "UPDATE records SET codec = CAST(x'ff' AS TEXT)",
    ])
  func aForeignRowAffectsNoOther(statement: String) throws {
    try test.pass(1...3, keep: 9)
    try ForeignProgram.run(
      "\(statement) WHERE id & 0xffffffffff = 2 AND id > 2 << 40", on: test.path)
    let history = try store.history(of: "a")
    #expect(history.map(\.number) == [1, 2, 3])
    #expect([history[0].text, history[2].text] == ["1", "3"])
    #expect(try test.pass(4...4) == 4)
  }

  @Test func aNameThatIsNotUTF8IsNotListed() throws {
    try ForeignProgram.run(
      "INSERT INTO pass(name, value) VALUES(CAST(x'ff61' AS TEXT), 1)", on: test.path)
    #expect(try store.names().map(\.name) == ["first"])
  }

  @Test(
    arguments: [
      "DROP TRIGGER passing", "CREATE INDEX i ON records(time)", "CREATE TABLE other(x)",
      "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
      "DROP VIEW messages; CREATE VIEW messages AS SELECT 1",
    ])
  func aChangedSchemaIsDamage(statement: String) throws {
    try ForeignProgram.run(statement, on: test.path)
    let again = test.openAgain()
    for store in [store, again] {
      #expect { try store.clear("first") } throws: { ($0 as? WormholeError) ~= .damaged }
      #expect { try store.newest(of: "first") } throws: { ($0 as? WormholeError) ~= .damaged }
    }
    try store.startAnew()
    #expect(try test.pass(1...1, to: "first") == 1)
    #expect(try again.newest(of: "first")?.text == "1")
  }

  @Test func othersReadWhatIsPassed() async throws {
    try store.pass(.json("\"x\""), to: "a")
    try ForeignProgram.run(
      """
      CREATE TEMP TABLE t(x CHECK(x)); INSERT INTO t SELECT
      value = '"x"' AND typeof(value) = 'text' AND number = 1 AND post = 'org.example.store.a'
      AND pid = \(getpid()) AND time BETWEEN unixepoch() - 99 AND unixepoch() + 1
      FROM messages WHERE name = 'a' ORDER BY id DESC LIMIT 1
      """, on: test.path)
  }
}

private func ~= (error: WormholeError?, kind: WormholeError) -> Bool {
  error.map { kind ~= $0 } ?? false
}
