// Specifies what logs take of a process and of the disk.
import Wormhole

@Suite(.bounded)
struct LogSpaceTests {
  private let bytes = Data(repeating: 7, count: 10_000)

  @Test func manyLogsOfAProcessNeedFewFilesAndLittleMemory() async throws {
    let group = try TemporaryGroup()
    let program = try group.peer("log-many", "150")
    #expect(await program.end().status == 0)
    let figures = try #require(program.lines.last).split(separator: " ").compactMap { Int($0) }
    #expect(figures[0] < 100)
    // A sanitizer, which makes a run slow, has an allocator of its own that keeps what was freed.
    if slowness == 1 { #expect(figures[1] < 64 << 10) }
  }

  @Test(arguments: [false, true]) func aClearingGivesTheSpaceBack(byAnUpdate: Bool) throws {
    let site = try Site(.log)
    for _ in 1...300 { try site.hole.blocking.pass(bytes, to: .bytes) }
    let path = "\(site.path)/org.example.bytes.log"
    #expect(size(path) + size(path + "-wal") > 3_000_000)
    if byAnUpdate {
      try site.hole.blocking.update(.bytes) { $0 = nil }
    } else {
      try site.hole.blocking.clear(.bytes)
    }
    #expect(size(path) + size(path + "-wal") < 100_000)
    #expect(try site.hole.blocking.pass(bytes, to: .bytes) == 302)
  }

  @Test func aLogHasALimitInBytes() throws {
    let site = try Site()
    let name = MessageName<Data>("org.example.bytes", transit: .log(bytes: 1 << 20))
    for number in 1...500 {
      try site.hole.blocking.pass(bytes + [UInt8(number & 255)], to: name)
      guard number > 150, number.isMultiple(of: 7) || number == 500 else { continue }
      let kept = try site.hole.blocking.history(name)
      #expect((80...110).contains(kept.count))
      #expect(kept.map(\.sequence) == Array(UInt64(number - kept.count + 1)...UInt64(number)))
    }
    #expect(try site.hole.blocking.message(name) == bytes + [UInt8(500 & 255)])
  }

  @Test func theNewestMessageStaysWhateverItsSize() throws {
    let site = try Site()
    let name = MessageName<Data>("org.example.bytes", transit: .log(bytes: 1))
    let large = Data(repeating: 1, count: 1 << 20)
    for _ in 1...2 { try site.hole.blocking.pass(large, to: name) }
    for _ in 1...3 { try site.hole.blocking.ping(name) }
    #expect(try site.hole.blocking.message(name) == large)
    #expect(try site.hole.blocking.history(name).map(\.sequence) == [2])
  }

  @Test func transitsWithOtherBytesAreDistinguished() {
    #expect(LogTransit(count: 2).identifier == "log, 2")
    #expect(LogTransit(count: 2, durable: true).identifier == "log, 2, durable")
    #expect(LogTransit(count: 2, bytes: 1 << 20).identifier == "log, 2, 1048576 bytes")
  }
}
