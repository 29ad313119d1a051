// Specifies the command `wormhole`, and how other languages use a store.
import Wormhole

@Suite(.bounded)
struct WormholeCommandTests {
  private let bus: PrivateBus
  private let directory: TemporaryGroup

  init() throws {
    bus = try PrivateBus()
    directory = try TemporaryGroup()
  }

  /// The group that the command is to use: its directory is named after it.
  private static let group = "org.example.lights"

  private var environment: [String: String] {
    ["XDG_DATA_HOME": directory.path, "NOTIFYUTIL": Program.path(of: "notifyutil")]
  }

  private func open() throws -> AppGroup {
    try AppGroup(
      Self.group, in: URL(fileURLWithPath: directory.path), center: try bus.makeCenter())
  }

  @discardableResult private func run(
    _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Outcome {
    try await Program.run(
      "wormhole", arguments, on: bus, environment: environment, sourceLocation: sourceLocation)
  }

  // MARK: Messages

  @Test func aPassedValueIsReadBySwift() async throws {
    #expect(try await run("pass", Self.group, "number", "7") == Outcome())
    let hole = try Wormhole(group: open())
    #expect(try await hole.message(MessageName<Int>("number")) == 7)
  }

  @Test func aValueOfSwiftIsPrinted() async throws {
    let hole = try Wormhole(group: open())
    try await hole.pass("half on", to: MessageName("text"))
    #expect(try await run("get", Self.group, "text").output == "\"half on\"\n")
    #expect(try await run("get", "--text", Self.group, "text").output == "half on\n")
    let object = try await run("get", "--json", Self.group, "text").output
    #expect(object.hasSuffix("\"codec\":\"json\",\"type\":\"String\",\"value\":\"half on\"}\n"))
  }

  @Test func bytesArePrintedAsTheyAre() async throws {
    let hole = try Wormhole(group: open())
    try await hole.pass(Data("bytes\n".utf8), to: MessageName("data"))
    #expect(try await run("get", Self.group, "data").output == "bytes\n")
    let object = try await run("get", "--json", Self.group, "data").output
    #expect(object.contains("\"value\":\"Ynl0ZXMK\""))
  }

  @Test func aMessageThatIsNotThereIsReported() async throws {
    #expect(
      try await run("get", Self.group, "number")
        == Outcome(status: 1, errors: "wormhole: there is no group \(Self.group)\n"))
    #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/\(Self.group)"))
    try await run("pass", Self.group, "number", "7")
    try await run("clear", Self.group, "number")
    #expect(try await run("get", Self.group, "number") == Outcome(status: 1))
  }

  @Test func aNameKeepsWhatItIsAskedTo() async throws {
    for number in 1...3 { try await run("pass", "--keep=2", Self.group, "n", "\(number)") }
    #expect(try await run("history", Self.group, "n").output == "2\n3\n")
    #expect(try await run("history", "--since=2", Self.group, "n").output == "3\n")
    let line = "{\"name\":\"n\",\"number\":3,\"keep\":2}\n"
    #expect(try await run("names", "--json", Self.group).output == line)
  }

  @Test func aListenerPrintsEachMessageOnALine() async throws {
    let name = MessageName<[String: Int]>("table", keep: .last(10))
    let hole = try Wormhole(group: open())
    try await hole.pass(["a": 1], to: name)
    let listener = try Program(
      "wormhole", ["listen", "--since=0", "--count=3", Self.group, "table"], on: bus,
      environment: environment)
    await listener.waitForLine("{\"a\":1}")
    try await hole.pass(["b": 2], to: name)
    try await hole.ping(name)  // Only messages count.
    try await run("pass", Self.group, "table", "{\n\"c\": 3 }")
    #expect(await listener.end() == Outcome(output: "{\"a\":1}\n{\"b\":2}\n{ \"c\": 3 }\n"))
  }

  @Test func aListenerGoesOnWithAStoreThatWasMadeAgain() async throws {
    try await run("pass", Self.group, "n", "1")
    let listener = try Program(
      "wormhole", ["listen", "--since=0", "--count=2", Self.group, "n"], on: bus,
      environment: environment)
    await listener.waitForLine("1")
    try await Wormhole(group: open()).startAnew()
    try await run("pass", Self.group, "n", "2")
    #expect(await listener.end().output == "1\n2\n")
  }

  // MARK: Defaults

  @Test func defaultsAreSharedWithSwift() async throws {
    let defaults = try open().defaults
    let theme = DefaultsKey("theme", default: "light")
    try await run("defaults", "--text", Self.group, "theme", "dark")
    #expect(try await defaults[theme] == "dark")
    #expect(try await run("defaults", Self.group).output == "theme \"dark\"\n")
    try await run("defaults", "--remove", Self.group, "theme")
    #expect(try await defaults[theme] == "light")
    #expect(try await run("defaults", Self.group, "theme") == Outcome(status: 1))
  }

  // MARK: Files

  @Test func aBackupHasEveryStoreAndDatabase() async throws {
    let group = try open()
    let items = SharedDatabase.Migration("items") { database in
      try database.run("CREATE TABLE item(id INTEGER PRIMARY KEY)")
    }
    let database = try group.database("items", migrations: [items])
    try await database.write { try $0.run("INSERT INTO item VALUES(7)") }
    try Data("text".utf8).write(to: group.directory.appendingPathComponent("notes"))
    try await run("pass", Self.group, "n", "1")
    try await run("defaults", Self.group, "key", "2")
    let copies = URL(fileURLWithPath: directory.path).appendingPathComponent("copies")
    let copy = copies.appendingPathComponent(Self.group)
    #expect(try await run("backup", Self.group, copy.path) == Outcome())
    let restored = try AppGroup(Self.group, in: copies, center: .isolated())
    #expect(try await Wormhole(group: restored).message(MessageName<Int>("n")) == 1)
    #expect(try await restored.defaults[DefaultsKey("key", default: 0)] == 2)
    #expect(!FileManager.default.fileExists(atPath: copy.appendingPathComponent("notes").path))
    let ids = try await restored.database("items", migrations: [items]).read { database in
      try database.rows("SELECT id FROM item", as: Int.self)
    }
    #expect(ids == [7])
    #expect(try await run("backup", Self.group, copy.path).errors.contains("File exists"))
  }

  // MARK: Mistakes

  @Test(arguments: [
    ([], "no command"), (["frob"], "no such command: frob"),
    (["get", "group"], "get: wrong number of arguments"),
    (["get", "--keep=3", "group", "n"], "get has no option --keep=3"),
    (["pass", "--keep=x", "group", "n", "1"], "--keep needs a number"),
    (["pass", "group", "n", "nothing"], "the value is not JSON; for a text, add --text"),
    (
      ["pass", "--directory=defaults", "group", "n", "1"],
      "the directory defaults has no messages"
    ),
    (["defaults", "--remove", "group"], "--remove needs a key and no value"),
  ])
  func aMistakeIsSaidInASentence(line: [String], sentence: String) async throws {
    let outcome = try await Program.run("wormhole", line, on: bus, environment: environment)
    #expect(
      outcome
        == Outcome(status: 2, errors: "wormhole: \(sentence)\nwormhole: try 'wormhole --help'\n"))
  }

  // MARK: Other languages

  @Test func aSwitchInPythonAndALabelInSwiftUnderstandEachOther() async throws {
    let light = MessageName<Bool>("org.example.light.state")
    let hole = try Wormhole(group: open())
    var messages = try hole.messages(light, starting: .new).makeAsyncIterator()
    try await hole.pass(false, to: light)
    #expect(try await messages.next()?.value == false)
    #expect(try await runSwitch("show").output == "off\n")
    #expect(try await runSwitch("toggle") == Outcome())
    let message = try #require(try await messages.next())
    #expect(message.value == true)
    #expect(message.sender.program == "light-switch.py")
    #expect(try await runSwitch("show").output == "on\n")
  }

  @Test func theShellOfSQLitePassesMessagesToSwift() async throws {
    let hole = try Wormhole(group: open())
    let number = MessageName<Int>("number", keep: .last(3))
    var messages = try hole.messages(number, starting: .new).makeAsyncIterator()
    try await hole.pass(1, to: number)
    #expect(try await messages.next()?.value == 1)
    let script = """
      sqlite3 -cmd '.timeout 10000' "$1" "INSERT INTO pass(name, value) VALUES('number', 2)" &&
      "$NOTIFYUTIL" -p "$(sqlite3 "$1" "SELECT post FROM messages LIMIT 1")"
      """
    let path = "\(directory.path)/\(Self.group)/wormhole/store.sqlite"
    let outcome = try await Program.run(
      "/bin/sh", ["-c", script, "sh", path], on: bus, environment: environment)
    #expect(outcome == Outcome())
    let message = try await messages.next()
    #expect(message?.value == 2)
    #expect(message?.sequence == 2)
  }

  private func runSwitch(_ command: String) async throws -> Outcome {
    let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Examples/light-switch/light-switch.py").standardized.path
    return try await Program.run(
      "/usr/bin/python3", [example, command], on: bus, environment: environment)
  }
}
