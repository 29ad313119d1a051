// Specifies the errors of a store.
@testable import Wormhole

@Suite(.bounded)
struct StoreErrorsTests {
  private let test: TestStore
  private var store: MessageStore { test.store }

  init() throws {
    test = try TestStore()
  }

  @Test func whatCannotBeAnnouncedIsStored() throws {
    let mute = test.openAgain(String(repeating: "x", count: 600))
    #expect(throws: WormholeError.notification) { try mute.pass(.json("1"), to: "a") }
    #expect(try store.newest(of: "a")?.text == "1")
    #expect(throws: WormholeError.notification) { try mute.observe("a") {} }
  }

  @Test func whatNoReaderWouldAcceptIsRefused() throws {
    let long = String(repeating: "é", count: 128)
    let value = StoredContent.value(StoredValue(codec: "json", data: Data("1".utf8)))
    for draft in [
      RecordDraft(.value(StoredValue(codec: long, data: Data("1".utf8)))),
      RecordDraft(.value(StoredValue(codec: "json", type: long, data: Data("1".utf8)))),
      RecordDraft(value, sender: StoredSender(program: long)),
      RecordDraft(value, sender: StoredSender(machine: long)),
    ] {
      let error = expect(.tooLarge) { try store.pass(draft, to: "a") }
      #expect(error?.found == "256" && error?.expected == "255")
    }
    let unreadable = RecordDraft(.unreadable(.decoding("R")))
    #expect(throws: WormholeError.decoding) { try store.pass(unreadable, to: "a") }
    #expect(try store.names().isEmpty)
  }

  @Test func theStoreOfALaterVersionIsRefused() throws {
    try test.pass(1...1)
    try ForeignProgram.run("PRAGMA user_version = 2; CREATE TABLE later(x)", on: test.path)
    for store in [store, test.openAgain()] {
      #expect(expect(.unknownFormat) { try store.newest(of: "a") }?.found == "2")
      #expect(expect(.unknownFormat) { try store.clear("a") }?.found == "2")
    }
  }

  @Test(arguments: [
    (
      """
      DROP VIEW messages; DROP VIEW pass; DROP TABLE store; DROP TABLE names; DROP TABLE records;
      DROP TABLE cursors
      """, "its tables were removed"
    ),
    ("DELETE FROM store", "it has no identity"),
  ])
  func aStoreThatLacksSomethingSaysWhat(statements: String, reason: String) throws {
    try test.pass(1...1)
    #expect(try store.newest(of: "a")?.text == "1")
    try ForeignProgram.run(statements, on: test.path)
    #expect(expect(.damaged) { try store.newest(of: "a") }?.reason == reason)
  }

  @Test func aLinkInThePlaceOfTheLocksOfCursorsIsForeign() throws {
    try test.pass(1...1)
    try #require(symlink("\(test.directory)/other", "\(test.path)-cursors") == 0)
    #expect(throws: WormholeError.foreign) { try store.openCursor("place", of: "a") }
    #expect(access("\(test.directory)/other", F_OK) != 0)
  }

  @Test func aStoreThatWasMovedAnnouncesItsNewName() throws {
    let temporary = try TemporaryGroup()
    func wormhole(_ directory: String) throws -> Wormhole {
      try Wormhole(group: temporary.make(), directory: directory)
    }
    try wormhole("old").blocking.pass(1, to: .number)
    try #require(rename("\(temporary.path)/old", "\(temporary.path)/new") == 0)
    #expect(try wormhole("new").blocking.pass(2, to: .number) == 2)
    try ForeignProgram.run(
      """
      CREATE TEMP TABLE new(post CHECK(post = 'wormhole.org.example.group.new.'));
      INSERT INTO new SELECT post FROM store
      """, on: "\(temporary.path)/new/store.sqlite")
  }

  @Test func aProcessThatHasEndedHasNoName() {
    #expect(LockHolder.describe(.max) == "process \(pid_t.max)")
    #expect(LockHolder.describe(getpid()).hasSuffix(" (process \(getpid()))"))
  }
}
