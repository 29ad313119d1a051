// Specifies what users of other stores expect.
import Wormhole

private enum Color: String, SQLiteValue {
  case red, green
}

@Suite(.bounded)
struct ConvenienceTests {
  private let schema = ["CREATE TABLE item(id INTEGER PRIMARY KEY, value)"]

  private func makeDatabase() throws -> SharedDatabase {
    try TemporaryGroup().group.database("items", migrations: .steps(schema))
  }

  /// Stores a value, and returns it as it comes back.
  private func store<Value: SQLiteValue>(_ value: Value) async throws -> Value? {
    try await makeDatabase().write { connection in
      try connection.run("INSERT INTO item(value) VALUES(?)", arguments: [value])
      return try connection.rows("SELECT value FROM item").first?["value"]
    }
  }

  @Test func moreTypesCanBeStored() async throws {
    let identifier = UUID()
    #expect(try await store(identifier) == identifier)
    #expect(try await store(Int32.min) == .min)
    #expect(try await store(UInt32.max) == .max)
    #expect(try await store(Int64.min) == .min)
    #expect(try await store(UInt.max) == .max)
    #expect(try await store(Float(1.5)) == 1.5)
    #expect(try await store(Color.green) == .green)
    #expect(Color(field: .text("blue")) == nil)
    #expect(Int32(field: .integer(1 << 40)) == nil)
    #expect(UUID(field: .blob(Data(count: 15))) == nil)
    #expect(UInt64(field: .text("1")) == nil && UInt(field: .text("1")) == nil)
    #expect(Int32(field: .text("1")) == nil && Double(field: .text("1")) == nil)
    #expect(Float(field: .null) == nil && Date(field: .null) == nil && Color(field: .null) == nil)
  }

  @Test func aMisspelledColumnIsAnError() async throws {
    let row = try await makeDatabase().write { connection in
      try connection.run("INSERT INTO item VALUES(?, ?)", arguments: [7, nil])
      return try connection.rows("SELECT * FROM item")[0]
    }
    #expect(try row.value("id", as: Int.self) == 7)
    #expect(try row.optional("value", as: String.self) == nil)
    #expect(throws: WormholeError.decoding("there is no column vaule, but id, value")) {
      try row.optional("vaule", as: String.self)
    }
    #expect(throws: WormholeError.self) { try row.value("id", as: String.self) }
    #expect(throws: WormholeError.self) { try row.value("value", as: Int.self) }
  }

  @Test func rowsCanBeTakenOneByOne() async throws {
    let sum = try await makeDatabase().read { connection in
      var sum = 0
      try connection.forEachRow(
        """
        WITH RECURSIVE number(n) AS (SELECT ? UNION ALL SELECT n + 1 FROM number)
        SELECT n FROM number
        """, arguments: [1]
      ) { row in
        sum += try row.value("n")
        return sum < 10
      }
      return sum
    }
    #expect(sum == 10)
  }

  @Test func rowsTakenOneByOneHaveTheColumnsThatOthersAdd() async throws {
    let store = try Store()
    func columns() async throws -> [String] {
      try await store.database.read { connection in
        var names: [String] = []
        try connection.forEachRow("SELECT * FROM item") { row in
          names = row.columnNames
          return true
        }
        return names
      }
    }
    #expect(try await columns() == ["id", "name"])
    try ForeignProgram.run(
      "ALTER TABLE item ADD COLUMN more; ALTER TABLE item RENAME id TO number",
      on: store.path)
    #expect(try await columns() == ["number", "name", "more"])
  }

  @Test func blockingFunctionsHaveAnAsynchronousForm() async throws {
    let (site, number) = (try Site(), DefaultsKey("number", default: 0))
    let defaults = site.hole.group.defaults
    try await defaults.set(1, for: number)
    try await defaults.update(number) { $0 += 1 }
    try await defaults.transaction { try $0.set($0[number] + 1, for: number) }
    #expect(try await defaults[number] == 3)
    try await defaults.set(0, for: DefaultsKey("a", default: 0))
    #expect(try await defaults.keys == ["a", "number"])
    #expect(try await defaults.contains(number))
    try await defaults.remove(number)
    #expect(try await defaults.keys == ["a"])
    #expect(try await !defaults.contains(number))
    try await defaults.set(1, for: number)
    try await defaults.removeAll()
    #expect(try await defaults.keys.isEmpty)

    try await site.hole.pass(1, to: .number)
    try await site.hole.remove(.number)
    #expect(try await site.hole.history(.number).isEmpty)
  }

  @Test func aDatabaseIsReadAndWrittenWithoutTasks() throws {
    let database = try makeDatabase().blocking
    try database.write { try $0.run("INSERT INTO item VALUES(1, 'a')") }
    #expect(try database.read { try $0.rows("SELECT value FROM item")[0]["value"] } == "a")
  }

  @Test func defaultsAreReadAndWrittenWithoutTasks() throws {
    let (group, number) = (try TemporaryGroup(), DefaultsKey("number", default: 0))
    let defaults = group.group.defaults.blocking
    try defaults.set(1, for: number)
    let updated = try defaults.update(number) { value in
      value += 1
      return value
    }
    #expect(updated == 2)
    #expect(try defaults.keys == ["number"])
    #expect(try defaults.contains(number))
    try defaults.transaction { try $0.remove(number) }
    #expect(try defaults[number] == 0)
    try defaults.set(3, for: number)
    try defaults.removeAll()
    #expect(try defaults.keys.isEmpty)
  }

  @Test func aConnectionCountsWhatItChanges() throws {
    let found = try makeDatabase().blocking.write { connection in
      try connection.run("INSERT INTO item VALUES(7, 'a'), (8, 'b')")
      let inserted = connection.lastInsertedRowID
      try connection.run("UPDATE item SET value = 'c'")
      return (inserted, connection.changedRowCount)
    }
    #expect(found == (8, 2))
  }

  @Test func rowsAreEqualByTheirColumnsAndFields() throws {
    let rows = try makeDatabase().blocking.read { connection in
      try ["SELECT 1 AS a", "SELECT 1 AS a --", "SELECT 1 AS b", "SELECT 2 AS a"].flatMap {
        try connection.rows($0)
      }
    }
    #expect(Set(rows).count == 3)
    #expect(rows[0] == rows[1] && rows[0] != rows[2])
    // The first of two columns with the same name is found by it.
    let twice = try makeDatabase().blocking.read { try $0.rows("SELECT 1 AS a, 2 AS a")[0] }
    #expect(twice["a"] == 1)
  }

  @Test func messagesCanBeCompared() {
    let message = Wormhole.Message(.value(1), name: "a", date: .distantPast)
    #expect(message == Wormhole.Message(.value(1), name: "a", date: .distantPast))
    #expect(message != Wormhole.Message(.ping, name: "a", date: .distantPast))
    #expect(message != Wormhole.Message(.value(1), name: "a", sequence: 2, date: .distantPast))
  }
}
