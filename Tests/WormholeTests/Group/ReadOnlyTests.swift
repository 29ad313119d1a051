// Specifies what can be done where nothing can be written.
import Wormhole

@Suite(.bounded)
struct ReadOnlyTests {
  /// Runs the program that reads all of a group, where the directory of groups cannot be written.
  private func read(_ group: TemporaryGroup) async throws -> [String] {
    let script = """
      mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"
      """
    let peer = Program.path(of: "group-peer")
    let program = try Program(
      "/usr/bin/unshare",
      ["-rm", "sh", "-c", script, "sh", group.parent, peer, group.parent, group.group.identifier]
        + ["read-all"],
      on: nil, environment: ["DARWIN_NOTIFY_BUS": "none"])
    let outcome = await program.end()
    #expect(outcome.status == 0, "\(outcome)")
    return program.lines
  }

  private func fill(_ group: AppGroup) async throws -> (Wormhole, SharedDatabase) {
    let hole = try Wormhole(group: group)
    let name = MessageName<Int>("number", keep: .last(10))
    for number in 1...3 { try await hole.pass(number, to: name) }
    try await group.defaults.set(7, for: DefaultsKey("number", default: 0))
    let database = try group.database(
      "items", migrations: .steps(["CREATE TABLE item(id INTEGER PRIMARY KEY)"]))
    try await database.write { try $0.run("INSERT INTO item VALUES(1), (2)") }
    return (hole, database)
  }

  private let expected = [
    "messages 3 [1, 2, 3]", "defaults 7", "items 2", "changes 2",
    "read-only", "nothing new",
  ]

  @Test(.enabled(if: Program.canMount, "no user namespaces"))
  func everythingCanBeReadWhileSomebodyWritesElsewhere() async {
    // In its own process: other tests could close the log's connection while it is read.
    await #expect(processExitsWith: .success) {
      let tests = ReadOnlyTests()
      let group = try TemporaryGroup()
      let writers = try await tests.fill(group.make())
      #expect(try await tests.read(group) == tests.expected)
      withExtendedLifetime(writers) {}
    }
  }

  // With a sanitizer, what other tests let go in the background may take longer than any deadline.
  @Test(.enabled(if: Program.canMount && slowness == 1, "no user namespaces, or a sanitizer"))
  func everythingCanBeReadWhenNobodyHasItOpen() async throws {
    let group = try TemporaryGroup()
    _ = try await fill(group.make())
    let path = group.path
    await eventually("a database is open") {
      let files = try? FileManager.default.subpathsOfDirectory(atPath: path)
      return files?.contains { $0.hasSuffix("-wal") } == false
    }
    #expect(try await read(group) == expected)
  }
}
