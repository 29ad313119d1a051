// Specifies rows as values of Swift types.
import Wormhole

private enum Colour: String, Decodable {
  case red, green
}

private struct Item: Decodable, Equatable, Sendable {
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
    database = try group.group.database("items", migrations: .steps(schema))
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

  /// Inserts a row with the fields of an item.
  private func insert(_ item: Item) async throws {
    try await database.write { connection in
      try connection.run(
        "INSERT INTO item VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        item.id, item.name, item.key, item.made, item.image, item.colour.rawValue, item.weight,
        item.small, item.large, item.isSold, item.maker)
    }
  }

  @Test func aRowIsDecodedAsItsTypesSay() async throws {
    let items = [Item(id: 1), Item(id: 2, name: "", weight: nil, isSold: false, maker: "nobody")]
    for item in items { try await insert(item) }
    let found = try await database.read { connection in
      try connection.rows("SELECT * FROM item ORDER BY id", as: Item.self)
    }
    #expect(found == items)
  }

  @Test func aFieldOnItsOwnIsWhatItsTypeSays() async throws {
    let item = Item(id: 7)
    try await insert(item)
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

  private struct Optionals: Decodable, Equatable, Sendable {
    var a: Int8?, b: Int16?, c: Int32?, d: Int64?, e: UInt?, f: UInt8?, g: UInt16?, h: UInt32?
    var i: UInt64?, j: Float?, k: Bool?, l: Date?
  }

  @Test(arguments: [true, false])
  func everyTypeMayBeOptional(isSet: Bool) async throws {
    let columns = "abcdefghijkl".map { "\(isSet ? "1" : "NULL") AS \($0)" }
    let sql = "SELECT \(columns.joined(separator: ", "))"
    let found = try await database.read { try $0.rows(sql, as: Optionals.self) }
    let date = Date(timeIntervalSince1970: 1)
    let all = Optionals(
      a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: true, l: date)
    #expect(found == [isSet ? all : Optionals()])
  }

  private enum Key: String, CodingKey {
    case a, b
  }

  @Test func aTypeMayLookWhichColumnsThereAre() async throws {
    struct Field: Decodable, Equatable, Sendable {
      var value: Int
      init(value: Int) { self.value = value }
      init(from decoder: any Decoder) throws {
        #expect(decoder.codingPath.isEmpty && decoder.userInfo.isEmpty)
        value = try decoder.singleValueContainer().decode(Int.self)
      }
    }
    struct Columns: Decodable, Equatable, Sendable {
      struct Parent: Decodable, Equatable, Sendable { var a: Field }
      var names: [String], parent: Parent
      init(names: [String], parent: Parent) { (self.names, self.parent) = (names, parent) }
      init(from decoder: any Decoder) throws {
        let columns = try decoder.container(keyedBy: Key.self)
        #expect(decoder.codingPath.isEmpty && decoder.userInfo.isEmpty)
        #expect(columns.codingPath.isEmpty && columns.contains(.a) && !columns.contains(.b))
        names = columns.allKeys.map(\.rawValue)
        parent = try Parent(from: columns.superDecoder())
      }
    }
    let found = try await database.read { try $0.rows("SELECT 7 AS a, 8 AS c", as: Columns.self) }
    #expect(found == [Columns(names: ["a"], parent: Columns.Parent(a: Field(value: 7)))])
  }

  @Test func aColumnIsNotSeveralValues() async throws {
    struct Pair: Decodable {
      struct Inner: Decodable { var b: Int }
      var a: Inner
    }
    struct Nested<Kind>: Decodable, Sendable {
      init(from decoder: any Decoder) throws {
        let columns = try decoder.container(keyedBy: Key.self)
        switch Kind.self {
        case is Int.Type: _ = try columns.nestedContainer(keyedBy: Key.self, forKey: .a)
        case is Bool.Type: _ = try columns.nestedUnkeyedContainer(forKey: .a)
        default: _ = try columns.superDecoder(forKey: .a)
        }
      }
    }
    let sql = "SELECT 7 AS a"
    let reason = "the column a is one field, expected several values"
    #expect(try await failure(of: Nested<Int>.self, sql) == reason)
    #expect(try await failure(of: Nested<Bool>.self, sql) == reason)
    #expect(try await failure(of: Nested<String>.self, sql) == reason)
    #expect(try await failure(of: Pair.self, sql) == "the column a holds 7, expected Inner")
    #expect(
      try await failure(of: [Int].self, "SELECT 1 AS a, 2 AS b")
        == "the columns of a row have names, expected an array")
  }

  @Test func whatATypeThrowsIsTheReason() async throws {
    struct Broken: Decodable, Sendable {
      struct Failure: Error {}
      init(from decoder: any Decoder) throws { throw Failure() }
    }
    #expect(try await failure(of: Broken.self, "SELECT 1 AS a") == "Broken: Failure()")
  }

  @Test func aMissingColumnIsAnError() async throws {
    struct Named: Decodable { var id: Int, nmae: String }
    struct Perhaps: Decodable { var nmae: String? }
    let (sql, reason) = ("SELECT 1 AS id, 'x' AS name", "there is no column nmae, but id, name")
    #expect(try await failure(of: Named.self, sql) == reason)
    #expect(try await failure(of: Perhaps.self, sql) == reason)
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
    #expect(try await reason(Int128.self, "1") == "the column id holds 1, expected Int128")
    #expect(try await reason(Int.self, "0.5") == "the column id holds 0.5, expected Int")
    #expect(try await reason(Int.self, "x'0102'") == "the column id holds 2 bytes, expected Int")
    #expect(
      try await failure(of: Int.self, "SELECT 1 AS a, 2 AS b")
        == "there are the columns a, b, expected one")
  }
}
