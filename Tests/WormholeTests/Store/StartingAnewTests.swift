// Specifies how a damaged store makes room for a new one.
@testable import Wormhole

@Suite(.bounded)
struct StartingAnewTests {
  private let test: TestStore

  init() throws {
    test = try TestStore()
  }

  /// Others create a new database as soon as the old one is gone. Its log must not be moved.
  @Test func theDatabaseIsMovedAfterItsLog() throws {
    try test.pass(1...1)
    let reader = try ForeignReader(of: test.path)
    let events = inotify_init1(O_CLOEXEC)
    defer { close(events) }
    try #require(inotify_add_watch(events, test.directory, UInt32(IN_MOVED_FROM)) >= 0)
    try test.store.startAnew()
    withExtendedLifetime(reader) {}
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(events, &bytes, bytes.count)
    // Each name is behind some numbers, and between zeros.
    let names = bytes.prefix(count).split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
      .filter { $0.hasPrefix("messages") }
    #expect(names == ["messages.sqlite-wal", "messages.sqlite-shm", "messages.sqlite"])
  }

  @Test func aProcessThatHasOpenedAnEmptyFileLeavesTheNextStoreAlone() async throws {
    try test.store.file.make()
    let script = """
      import os, signal, sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      os.kill(os.getpid(), signal.SIGSTOP)
      try:
          db.execute("PRAGMA schema_version").fetchall()
      except sqlite3.Error:
          pass
      """
    let late = try Program("/usr/bin/python3", ["-c", script, test.path], on: nil)
    await late.waitUntilStopped()
    try test.store.startAnew()
    try test.pass(1...1)
    late.send(SIGCONT)
    await late.waitForSuccess()
    #expect(try test.history() == ["1"])
  }

  @Test(arguments: ["", "-wal", "-shm"])
  func aDamagedFileStaysIfItCannotBeMovedAway(suffix: String) throws {
    try test.pass(1...1)
    let obstacle = URL(fileURLWithPath: "\(test.path).damaged\(suffix)/file")
    try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
    #expect(expect(.system) { try test.store.startAnew() }?.number == EISDIR)
    #expect(try test.history() == ["1"])
  }

  @Test func aThreadCannotMoveAFileThatItUses() throws {
    try test.pass(1...1)
    let error = expect(.nested) {
      try test.store.read(within: nil) { (_) throws(WormholeError) in try test.store.startAnew() }
    }
    #expect(error?.path == test.path)
    #expect(try test.history() == ["1"])
  }
}
