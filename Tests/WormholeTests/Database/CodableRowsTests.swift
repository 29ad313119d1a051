// Specifies rows as values of Swift types.
import Wormhole

private enum Colour: String, Codable {
  case red, green
}

private struct Item: Codable, Equatable, Sendable {
  var id: Int?
  var name = "cup"
  var key = UUID()
  var made = Date(timeIntervalSince1970: 0.5)
  var image = Data([1, 2])
  var colour = Colour.green
  var weight: Double? = 2.5
  var small: Int8 = -3
  var large = UInt64.max
  var isSold = true
  var maker: String?

  enum CodingKeys: String, CodingKey {
    case id, name, key, made, image, colour, weight, small, large, maker
    case isSold = "sold"
  }
}

@Suite(.bounded)
struct CodableRowsTests {
  private let schema = [
    """
    CREATE TABLE item(
      id INTEGER PRIMARY KEY, name TEXT, key TEXT, made REAL, image BLOB, colour TEXT, weight REAL,
      small INTEGER, large INTEGER, sold INTEGER, maker TEXT DEFAULT 'nobody', more TEXT)
    """
  ]
  private let group: TemporaryGroup
  private let database: SharedDatabase

  init() throws {
    group = try TemporaryGroup()
    database = try group.group.database("items", migrations: schema)
  }

  /// Decodes the row of a statement, and returns the reason why that fails.
  private func failure<Value: Decodable & Sendable>(
    of type: Value.Type, _ sql: String
  ) async throws -> String? {
    return try await database.read { connection in
      do {
        return "\(try connection.rows(sql, as: Value.self))"
      } catch let error as WormholeError {
        return error.reason
      }
    }
  }

  @Test func aValueIsStoredAsItsTypesSayAndComesBackAsItWas() async throws {
    struct Nothing: Codable { var id: Int? }
    let item = Item()
    let (rows, found) = try await database.write { connection in
      #expect(try connection.insert(item, into: "item") == 1)
      try connection.insert(Nothing(), into: "item")
      return (
        try connection.rows("SELECT * FROM item"),
        try connection.rows("SELECT * FROM item WHERE name = ?", "cup", as: Item.self)
      )
    }
    #expect(
      rows[0].fields == [
        .integer(1), .text("cup"), .text(item.key.uuidString), .real(0.5), .blob(Data([1, 2])),
        .text("green"), .real(2.5), .integer(-3), .integer(-1), .integer(1), .text("nobody"), .null,
      ])
    #expect(rows[1]["maker", as: String.self] == "nobody", "what is absent has its default")
    var expected = item
    (expected.id, expected.maker) = (1, "nobody")
    #expect(found == [expected])
  }

  @Test func aFieldOnItsOwnIsWhatItsTypeSays() async throws {
    let item = Item(id: 7)
    try await database.write { try $0.insert(item, into: "item") }
    func check<Value: Decodable & Equatable & Sendable>(
      _ column: String, _ value: Value
    ) async throws {
      let sql = "SELECT \(column) FROM item"
      #expect(try await database.read { try $0.rows(sql, as: Value.self) } == [value])
    }
    try await check("made", item.made)
    try await check("made", Optional(item.made))
    try await check("NULL", Date?.none)
    try await check("image", item.image)
    try await check("key", item.key)
    let identifier = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F"))
    try await check("x'000102030405060708090a0b0c0d0e0f'", identifier)
    try await check("large", UInt64.max)
    try await check("colour", Colour.green)
  }

  @Test func anUpdateSetsWhatIsAbsentToNull() async throws {
    let item = Item(id: 7)
    try await database.write { try $0.insert(item, into: "item") }
    var changes = try database.changes(in: ["item"]).makeAsyncIterator()
    let changed = Item(id: 7, name: "jug", colour: .red, weight: nil)
    try await database.write { try $0.update(changed, in: "item") }
    #expect(try await changes.next()?.rowIDs(.updated, in: "item") == [7])
    let found = try await database.read { connection in
      try connection.rows("SELECT * FROM item", as: Item.self)
    }
    #expect(found == [changed])
    try await database.write { try $0.update(Item(id: 8, name: "jug"), in: "item", by: "name") }
    #expect(try await database.read { try $0.rows("SELECT id FROM item", as: Int.self) } == [8])
  }

  @Test func anUpdateOfNoRowIsAnError() async throws {
    let error = WormholeError.noSuchRow(
      table: "item", key: "id = 9", path: "\(group.path)/items")
    await #expect(throws: error) {
      try await database.write { try $0.update(Item(id: 9), in: "item") }
    }
    #expect("\(error)" == "\(group.path)/items: the table item has no row id = 9")
    await #expect(throws: WormholeError.encoding("Item has nothing for the column id")) {
      try await database.write { try $0.update(Item(), in: "item") }
    }
  }

  @Test func aRowOfAViewIsUpdatedByItsTrigger() async throws {
    struct Seen: Codable { var id: Int, name: String }
    let group = try TemporaryGroup()
    let steps = [
      "CREATE VIEW seen AS SELECT id, name FROM item",
      """
      CREATE TRIGGER see INSTEAD OF UPDATE ON seen BEGIN
        UPDATE item SET name = NEW.name WHERE id = OLD.id;
      END
      """,
    ]
    let database = try group.group.database("items", migrations: schema + steps)
    let names = try await database.write { connection in
      try connection.insert(Item(id: 7), into: "item")
      try connection.update(Seen(id: 7, name: "jug"), in: "seen")
      return try connection.rows("SELECT name FROM item", as: String.self)
    }
    #expect(names == ["jug"])
    await #expect(throws: WormholeError.self) {
      try await database.write { try $0.update(Seen(id: 9, name: "jug"), in: "seen") }
    }
  }

  @Test func aMissingColumnIsAnError() async throws {
    struct Named: Codable { var id: Int, nmae: String }
    struct Perhaps: Codable { var nmae: String? }
    let (sql, reason) = ("SELECT 1 AS id, 'x' AS name", "there is no column nmae, but id, name")
    #expect(try await failure(of: Named.self, sql) == reason)
    #expect(try await failure(of: Perhaps.self, sql) == reason)
    for isNew in [true, false] {
      let error = await #expect(throws: WormholeError.self) {
        try await database.write { connection in
          let value = Named(id: 1, nmae: "x")
          if isNew { return _ = try connection.insert(value, into: "item") }
          try connection.update(value, in: "item")
        }
      }
      #expect("\(String(describing: error))".contains("nmae"))
    }
  }

  @Test func aFieldOfAnotherTypeIsAnError() async throws {
    struct Perhaps: Decodable { var id: Int? }
    struct Field<Value: Decodable & Sendable>: Decodable, Sendable { var id: Value }
    func reason<Value: Decodable & Sendable>(
      _ type: Value.Type, _ value: String
    ) async throws -> String? {
      try await failure(of: Field<Value>.self, "SELECT \(value) AS id")
    }
    let text = "the column id holds the text x, expected "
    #expect(try await reason(Int.self, "'x'") == text + "Int")
    #expect(try await failure(of: Perhaps.self, "SELECT 'x' AS id") == text + "Int")
    #expect(try await reason(Colour.self, "'x'") == text + "Colour")
    #expect(try await reason([Int].self, "'x'") == text + "Array<Int>")
    #expect(try await reason(Int.self, "NULL") == "the column id holds NULL, expected Int")
    #expect(try await reason(Int8.self, "300") == "the column id holds 300, expected Int8")
    #expect(
      try await failure(of: Int.self, "SELECT 1 AS a, 2 AS b")
        == "there are the columns a, b, expected one")
  }

  @Test func aPropertyThatIsNotOneFieldIsRefused() async throws {
    struct Several: Encodable { var tags: [String] = [] }
    struct Nested: Encodable { var colour = ["red": 1] }
    await #expect(
      throws: WormholeError.encoding(
        "Several: the column tags is for one field, not for Array<String>")
    ) {
      try await database.write { try $0.insert(Several(), into: "item") }
    }
    for value in [Nested(), [1, 2], 3] as [any Encodable & Sendable] {
      await #expect(throws: WormholeError.self) {
        try await database.write { try $0.insert(value, into: "item") }
      }
    }
    #expect(try await database.read { try $0.rows("SELECT * FROM item").isEmpty })
  }
}
