// Specifies how a stalled reader affects writers.
import Wormhole

@Suite(.bounded)
struct StandingReaderTests {
  private func logBytes(_ group: TemporaryGroup) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(group.path)/items-wal")
    return attributes?[.size] as? Int ?? 0
  }

  @Test func theWriteAheadLogHasALimit() async throws {
    let group = try TemporaryGroup()
    let database = try group.group.database("items", migrations: ["CREATE TABLE item(value)"])
    let (begun, isOver) = (Flag(), DispatchSemaphore(value: 0))
    let reading = Task {
      try await database.read { connection in
        _ = try connection.rows("SELECT * FROM item")
        begun.set()
        isOver.wait()
      }
    }
    await eventually { begun.isSet }
    let path = "\(group.path)/items"
    await #expect(throws: WormholeError.heldByReader(path: path)) {
      for _ in 1...40 {
        try await database.write { try $0.run("INSERT INTO item VALUES(zeroblob(16 << 20))") }
      }
    }
    #expect((256 << 20..<300 << 20).contains(logBytes(group)))
    isOver.signal()
    try await reading.value
    try await database.write { try $0.run("DELETE FROM item") }
    #expect(logBytes(group) < 32 << 20)
  }

  @Test func listenersLetGoBetweenTwoLooks() async {
    // Other tests could close the connection of the log, and its file would go.
    await #expect(processExitsWith: .success) {
      let site = try Site(.log)
      let large = Data(repeating: 1, count: 1 << 20)
      var messages = try site.hole.messages(.bytes, starting: .all).makeAsyncIterator()
      for number in 1...20 {
        try await site.hole.pass(large, to: .bytes)
        #expect(await messages.next()?.sequence == UInt64(number))
      }
      let path = "\(site.path)/org.example.bytes.log"
      // It is emptied only if nobody is reading.
      try ForeignProgram.run("PRAGMA wal_checkpoint(TRUNCATE)", on: path)
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)-wal")
      #expect(attributes[.size] as? Int == 0)
    }
  }

  @Test func aForeignSchemaHoldsNobodyForEver() async throws {
    let group = try TemporaryGroup()
    let database = try group.group.database("items", migrations: ["CREATE TABLE item(value)"])
    try ForeignProgram.run(
      """
      DROP TABLE wormhole_changes;
      CREATE VIEW wormhole_changes AS
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
      SELECT n AS id, 'item' AS name, n AS row FROM number;
      """, on: "\(group.path)/items")
    await #expect(throws: WormholeError.foreign(path: "\(group.path)/items")) {
      try await database.token
    }
  }
}
