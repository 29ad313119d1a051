// Specifies what errors say, also to Foundation.
import Wormhole

@Suite(.bounded)
struct ErrorTests {
  /// One error of each kind, with words that it must say.
  static let errors: [(WormholeError, [String])] = [
    (.invalidIdentifier, ["empty"]), (.reservedName("N"), ["N"]), (.notPrivate(path: "P"), ["P"]),
    (.system(code: EACCES, path: "P"), ["P", "Permission denied"]),
    (.system(code: ENOSPC, path: "P"), ["P", "no room"]),
    (.busy(path: "P"), ["P", "locked"]), (.heldByReader(path: "P"), ["P", "reader"]),
    (.cancelled, ["cancelled"]), (.timedOut("N"), ["N", "timed out"]),
    (.foreign(path: "P"), ["P", "another"]), (.damaged(path: "P"), ["P", "damaged"]),
    (.unknownFormat(version: 7, path: "P"), ["P", "7"]),
    (.tooLarge(bytes: 9, limit: 7), ["9", "7"]),
    (.codecMismatch(name: "N", expected: "E", found: "F"), ["N", "E", "F"]),
    (.typeMismatch(name: "N", expected: "E", found: "F"), ["N", "E", "F"]),
    (.versionMismatch(name: "N", expected: 7, found: 9), ["N", "7", "9"]),
    (.encoding("R"), ["R"]), (.decoding("R"), ["R"]),
    (.cursorInUse("N"), ["N"]),
    (.cursorNotStored("N", reason: "R"), ["N", "R"]),
    (.database(code: 7, message: "R"), ["7", "R"]),
    (.unknownTable(name: "N", known: ["E", "F"], path: "P"), ["N", "E, F", "P"]),
    (.unknownMigrations(names: ["E", "F"], path: "P"), ["E, F", "P"]),
    (.migrationFailed(name: "N", reason: "R", path: "P"), ["N", "R", "P"]),
    (.notification(DarwinNotifyError.limitReached), ["stored", "limit reached"]),
  ]

  @Test(arguments: errors)
  func everyErrorSaysWhatFailed(error: WormholeError, words: [String]) {
    for word in words { #expect(error.description.contains(word)) }
    #expect((error as any Error).localizedDescription == error.description)
    #expect(Self.errors.filter { $0.0 == error }.count == 1)
  }

  @Test func theErrorsOfNotificationsSayTheSameToFoundation() {
    for error: any Error in [DarwinNotifyError.limitReached, NotifyError.invalidName] {
      #expect(error.localizedDescription == "\(error)")
    }
  }

  @Test func isCaughtByItsKindWhateverItsDetails() throws {
    func fail() throws { throw WormholeError.busy(path: "P") }
    do {
      try fail()
    } catch WormholeError.cancelled {
      Issue.record("caught by the name of another one")
    } catch WormholeError.busy {
      // The compiler used to crash on this.
      #expect([1].map { $0 + 1 } == [2])
    } catch {
      Issue.record("not caught by its name")
    }
    do { try fail() } catch let error as WormholeError where error.code == .busy {}
    #expect(throws: WormholeError.busy) { try fail() }
    #expect(Set([WormholeError.busy, .busy(path: "P"), .damaged]).count == 2)
    let error = WormholeError.damaged.with(path: "P", reason: "R")
    #expect(.damaged ~= error && error == .damaged && "\(error)" == "P is damaged: R")
  }

  @Test func theErrorOfACodecIsASentence() throws {
    struct Lamp: Codable, Sendable { var level: Int }
    struct Other: Codable, Sendable { var name: String, level: String }
    struct Broken: Codable, Sendable {
      struct Failure: Error {}
      func encode(to encoder: any Encoder) throws { throw Failure() }
    }
    let site = try Site()
    let (lamp, text) = (MessageName<Lamp>("lamp", type: "l"), MessageName<Other>("lamp", type: "l"))
    try site.hole.blocking.pass(Other(name: "", level: "x"), to: text)
    let wrong = expect(.decoding) { try site.hole.blocking.message(lamp) }
    #expect(wrong?.reason?.hasPrefix("lamp: level: ") == true)
    try site.hole.blocking.pass(Lamp(level: 1), to: lamp)
    let missing = try #require(expect(.decoding) { try site.hole.blocking.message(text) })
    #expect(missing.reason == "lamp: there is no value for the key name")
    let broken = expect(.encoding) {
      try site.hole.blocking.pass(Broken(), to: MessageName<Broken>("broken"))
    }
    #expect(broken?.reason == "broken: Failure()")
    for error in [wrong, missing] { #expect(error?.description.contains("(") == false) }
  }

  /// SQLite's own limit of pages stands for a full disk.
  @Test func aFullDiskIsOneKindOfErrorEverywhere() async throws {
    let database = try TemporaryGroup().group.database(
      "items", migrations: .steps(["CREATE TABLE i(v)"]))
    let full = await #expect(throws: WormholeError.self) {
      try await database.write { connection in
        try connection.run("PRAGMA max_page_count = 20")
        try connection.run("INSERT INTO i VALUES(zeroblob(1 << 20))")
      }
    }
    #expect(full.map { .diskFull ~= $0 } == true && full?.path?.hasSuffix("/items") == true)
    #expect(.diskFull ~= WormholeError.system(code: EDQUOT, path: "P"))
  }
}
