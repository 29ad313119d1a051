// Specifies what messages take of a process and of the disk.
import Wormhole

@Suite(.bounded)
struct SpaceTests {
  @Test func manyNamesOfAProcessNeedNoMemory() async throws {
    let group = try TemporaryGroup()
    let program = try group.peer("many-names", "5000")
    let outcome = await program.end()
    // Its directory is removed with it.
    withExtendedLifetime(group) {}
    #expect(outcome.status == 0, "\(outcome)")
    let figures = program.lines.map { $0.split(separator: " ").compactMap { Int($0) } }
    try #require(figures.count == 2)
    #expect(figures[1][0] <= figures[0][0] + 6, "open files")
    // A sanitizer, which makes a run slow, has an allocator of its own that keeps what was freed.
    if slowness == 1 { #expect(figures[1][1] < figures[0][1] + 2048, "KiB") }
  }

  @Test(arguments: [false, true])
  func aClearingGivesTheSpaceToLaterMessages(byAnUpdate: Bool) throws {
    let site = try Site(.history)
    let bytes = Data(repeating: 7, count: 10_000)
    var sizes: [Int] = []
    for _ in 1...4 {
      for _ in 1...300 { try site.hole.blocking.pass(bytes, to: .bytes) }
      if byAnUpdate {
        try site.hole.blocking.update(.bytes) { $0 = nil }
      } else {
        try site.hole.blocking.clear(.bytes)
      }
      try ForeignProgram.run("PRAGMA wal_checkpoint(TRUNCATE)", on: site.store.path)
      sizes.append(size(site.store.path))
    }
    #expect(sizes.allSatisfy { $0 < 5 << 20 }, "\(sizes)")
  }

  @Test func aWriterThatNeverPausesKeepsTheLogSmall() throws {
    let site = try Site()
    let bytes = Data(repeating: 7, count: 250_000)
    for _ in 1...400 { try site.hole.blocking.pass(bytes, to: .bytes) }
    #expect(size("\(site.store.path)-wal") < 16 << 20)
  }
}
