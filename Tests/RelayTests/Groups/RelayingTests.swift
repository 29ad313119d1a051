// Specifies how a store takes the records of other machines.
import Foundation
import TestTools
import Testing
import Wormhole

@testable import notifyrelay

@Suite(.bounded)
struct RelayingTests {
  private let test: TestStore
  private var store: MessageStore { test.store }

  init() throws {
    test = try TestStore()
  }

  /// A record whose value names it.
  private func record(
    _ number: UInt64, after previous: UInt64? = nil, at time: Int64, of machine: String = "b",
    epoch: UInt64 = 1, keep: Int? = nil, _ content: StoredContent? = nil
  ) -> ForeignRecord {
    let value = StoredValue(codec: "json", data: Data("\"\(machine)\(epoch).\(number)\"".utf8))
    let draft = RecordDraft(
      content ?? .value(value), keep: keep, sender: StoredSender(machine: machine), time: time)
    return ForeignRecord(
      number, after: previous ?? number - 1, of: machine, epoch: epoch, draft: draft)
  }

  private func receive(_ record: ForeignRecord, isFirst: Bool = false) throws -> ForeignResult {
    try store.receive(record, of: "a", on: "a", isFirst: isFirst)
  }

  @Test func aRecordIsStoredOnceWithItsTimeAndMachine() throws {
    #expect(try receive(record(3, at: 7)) == .stored)
    #expect(try receive(record(3, at: 7)) == .repeated)
    #expect(try receive(record(2, at: 9)) == .repeated)
    let newest = try #require(try store.newest(of: "a"))
    #expect(newest.time == 7 && newest.sender.machine == "b" && newest.text == "\"b1.3\"")
    #expect(try store.cursors(of: "a").isEmpty)
  }

  @Test func aGapInAHistoryIsReported() throws {
    #expect(try receive(record(3, at: 7, keep: 9)) == .missing(after: 0))
    #expect(try store.names().isEmpty)
    #expect(try receive(record(3, at: 7, keep: 9), isFirst: true) == .stored)
    #expect(try receive(record(5, at: 9, keep: 9), isFirst: true) == .missing(after: 3))
    #expect(try receive(record(9, after: 3, at: 9, keep: 9)) == .stored)
    // It keeps more here than there.
    #expect(try receive(record(11, at: 12)) == .missing(after: 9))
    #expect(try test.history() == ["\"b1.3\"", "\"b1.9\""])
  }

  @Test func aNewEpochBeginsAnew() throws {
    #expect(try receive(record(3, at: 7, keep: 9), isFirst: true) == .stored)
    #expect(try receive(record(1, at: 3, epoch: 2, keep: 9)) == .stored)
    #expect(try receive(record(3, at: 7, keep: 9)) == .repeated)
  }

  @Test func whatIsTooLargeIsSkipped() throws {
    var large = record(1, at: 7, keep: 9)
    large.draft = nil
    #expect(try receive(large) == .superseded)
    #expect(try receive(record(2, at: 8, keep: 9)) == .stored)
    #expect(try test.history() == ["\"b1.2\""])
  }

  @Test func newNamesAreRefusedBeyondALimit() throws {
    try test.pass(1...1, to: "other")
    #expect(try store.receive(record(1, at: 7), of: "a", on: "a", maxNames: 1) == .refused)
    #expect(try store.receive(record(1, at: 7), of: "a", on: "a", maxNames: 2) == .stored)
  }

  @Test func aClearingRemovesNothingThatIsNewer() throws {
    let time = try (0..<2).map { _ in try test.pass(1...1, keep: 9) }.count
    #expect(time == 2)
    #expect(try receive(record(1, at: 7, .cleared)) == .superseded)
    #expect(try test.history() == ["1", "1"])
    #expect(try receive(record(2, at: .max / 2, .cleared)) == .stored)
    #expect(try test.history().isEmpty)
  }

  @Test func aPingIsStoredAndDecidesNothing() throws {
    try store.pass(RecordDraft(.ping, time: 100), to: "a")
    #expect(try receive(record(1, at: 5)) == .stored)
    #expect(try receive(record(2, at: 6, .ping)) == .stored)
    // It has got the time 101 here, but its own is earlier.
    #expect(try receive(record(1, at: 7, of: "c")) == .stored)
    #expect(try store.newest(of: "a")?.text == "\"c1.1\"")
  }

  /// The records of each machine arrive in their order, those of all in any.
  @Test(arguments: 1...40)
  func theNewestValueDoesNotDependOnTheOrder(_ seed: Int) throws {
    var random = SystemRandomNumberGenerator()
    let sent = ["b", "c", "d"].map { machine in
      var time: Int64 = 0
      return (1...4).map { number in
        time += .random(in: 1...3, using: &random)
        return record(UInt64(number), at: time, of: machine)
      }
    }
    let newest = sent.joined().max {
      ($0.draft?.time ?? 0, $0.machine) < ($1.draft?.time ?? 0, $1.machine)
    }
    for name in ["x", "y", "z"] {
      var rest = sent
      while let index = rest.indices.filter({ !rest[$0].isEmpty }).randomElement() {
        _ = try store.receive(rest[index].removeFirst(), of: name, on: "a")
      }
      let found = try #require(try store.newest(of: name))
      #expect(found.sender.machine == newest?.machine && found.text.contains(".4"))
    }
  }
}
