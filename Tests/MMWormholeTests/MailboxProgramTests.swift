// Specifies that sources for MMWormhole work as they are, whatever others have stored.
import MMWormhole
import Wormhole

/// In Swift 6 and Swift 5 mode.
private let programs = ["mailboxes", "mailboxes-5"]

@Suite(.bounded)
struct MailboxProgramTests {
  private let directory: TemporaryGroup
  private static let group = "group.org.example.mailboxes"

  init() throws { directory = try TemporaryGroup() }

  private var environment: [String: String] {
    ["XDG_DATA_HOME": directory.parent, "DARWIN_NOTIFY_BUS": "none"]
  }

  private var store: MessageStore {
    get throws {
      try AppGroup(Self.group, in: URL(fileURLWithPath: directory.parent))
        .store(named: "wormhole")
    }
  }

  private func start(_ program: String, _ words: String...) throws -> Program {
    try Program(program, words, on: nil, environment: environment)
  }

  @Test(arguments: programs)
  func anAppHearsItsWidget(_ program: String) async throws {
    let app = try start(program, "app")
    await app.waitForLine("ready")
    let widget = try start(program, "widget")
    await widget.waitForSuccess()
    for line in ["number 1", "selection [2, 3]", "switch true", "finished"] {
      await app.waitForLine(line)
    }
    let reminder = "1000.25 [\"blue\", \"red\"] 2.5 [0, 255] 1 true true"
    await app.waitForLine("eat 3 true \(reminder), then sleep 0 false \(reminder)")
    let late = try start(program, "app")
    await late.waitForLine("number 1, stored")
    let reader = try start(program, "reader")
    let outcome = await reader.end()
    let lines = ["passed", "Naima 261.5", "nothing", "no track", Self.group]
    #expect(outcome == Outcome(output: lines.map { "\($0)\n" }.joined()))
  }

  @Test(arguments: programs)
  func whatCannotBePassedIsOneLine(_ program: String) async throws {
    let outcome = await (try start(program, "misuse")).end()
    #expect(outcome.status == 0)
    #expect(outcome.output == "alive\n")
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 13, "\(outcome.errors)")
    #expect(lines.allSatisfy { $0.hasPrefix("MMWormhole.") || $0.hasPrefix("FileManager.") })
  }

  @Test func otherLanguagesReadWhatIsPassedAndFillMailboxes() async throws {
    let app = try start("mailboxes", "app")
    await app.waitForLine("ready")
    await (try start("mailboxes", "widget")).waitForSuccess()
    let get = try await Program.run(
      "wormhole", ["get", Self.group, "button"], on: nil, environment: environment)
    #expect(get == Outcome(output: "{\"buttonNumber\":1}\n"))
    let pass = try await Program.run(
      "wormhole", ["pass", Self.group, "button", "{\"buttonNumber\": 42}"], on: nil,
      environment: environment)
    #expect(pass == Outcome())
    await app.waitForLine("number 42")
    let script = """
      import json, plistlib, sqlite3, sys
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      rows = db.execute("SELECT name, value FROM messages WHERE name IN ('selection', 'switch')")
      print({name: json.loads(value) for name, value in rows})
      value = plistlib.dumps([[4, 5]], fmt=plistlib.FMT_BINARY)
      db.execute("INSERT INTO pass(name, value, codec) VALUES('selection', ?, 'plist')", (value,))
      """
    let python = try Program("/usr/bin/python3", ["-c", script, try store.path], on: nil)
    #expect(await python.end() == Outcome(output: "{'selection': [2, 3], 'switch': True}\n"))
    let printed = try start("mailboxes", "print", "selection")
    #expect(await printed.end() == Outcome(output: "selection: NSArray (\n    4,\n    5\n)\n"))
  }

  // MARK: - Hostile messages

  @Test func whatOthersHaveStoredNeverEndsAProcess() async throws {
    for (name, message) in HostileMessage.all {
      let value = StoredValue(codec: message.codec, data: message.data)
      try store.pass(RecordDraft(.value(value)), to: name)
    }
    try ForeignProgram.run(
      "INSERT INTO pass(name, value) VALUES('text', 'no json')", on: store.path)
    try ForeignProgram.run("INSERT INTO pass(name, value) VALUES('good', '[true]')", on: store.path)
    let names = HostileMessage.all.keys.sorted() + ["text"]
    let outcome = try await Program.run(
      "mailboxes", ["print"] + names + ["good"], on: nil, environment: environment)
    #expect(outcome.status == 0)
    #expect(
      outcome.output == names.map { "\($0): nil\n" }.joined() + "good: NSArray (\n    true\n)\n")
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == names.count, "\(outcome.errors)")
    for (name, line) in zip(names, lines) {
      #expect(
        line.hasPrefix("MMWormhole.message(withIdentifier:): ") && line.contains("\"\(name)\""))
    }
  }

  @Test func aListenerHearsNilForAMessageThatCannotBeRead() async throws {
    let app = try start("mailboxes", "app")
    await app.waitForLine("ready")
    let message = try #require(HostileMessage.all["class-unknown"])
    let value = StoredValue(codec: message.codec, data: message.data)
    try store.pass(RecordDraft(.value(value)), to: "reminder")
    let post = ["-p", "wormhole.\(Self.group).wormhole.reminder"]
    #expect(
      try await Program.run("notifyutil", post, on: nil, environment: environment) == Outcome())
    await app.waitForLine("no reminder")
    await eventually { app.errors.hasSuffix("(identifier \"reminder\")\n") }
    #expect(app.errors.split(separator: "\n").count == 1)
    #expect(app.isRunning)
  }
}
