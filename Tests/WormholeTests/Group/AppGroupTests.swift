// Specifies the directories of groups.
import Wormhole

@Suite(.bounded)
struct AppGroupTests {
  @Test func isADirectoryOfTheUserAlone() throws {
    let temporary = try TemporaryGroup()
    let name = temporary.group.directory.lastPathComponent
    #expect(name == "org.example.group")
    #expect(temporary.group.identifier == "org.example.group")
    #expect(try mode(temporary.path) == 0o700)
    #expect(try mode(temporary.parent) == 0o700)
  }

  @Test func leavesThePermissionsOfADirectoryThatExists() throws {
    let temporary = try TemporaryGroup()
    for rights in [0o755, 0o750, 0o701, 0o1700] as [mode_t] {
      try #require(chmod(temporary.path, rights) == 0)
      _ = try Wormhole(group: temporary.make()).blocking.pass(1, to: .number)
      #expect(try mode(temporary.path) == rights)
    }
  }

  @Test func hasOneStoreForEachName() throws {
    let group = try TemporaryGroup().group
    #expect(group.store(named: "wormhole") === group.store(named: "wormhole"))
    #expect(group.store(named: "wormhole") !== group.store(named: "defaults"))
    #expect(group.store(named: "a/b").path == "\(group.directory.path)/a%2Fb/store.sqlite")
  }

  @Test func postsNamesThatAreShortEnough() throws {
    let group = try TemporaryGroup().group
    #expect(group.postPrefix(of: "wormhole") == "wormhole.org.example.group.wormhole.")
    let names = ["a", "b"].map { String(repeating: "x", count: 300) + $0 } + ["a\0", "a\0b"]
    let prefixes = names.map { group.postPrefix(of: $0) }
    #expect(Set(prefixes).count == names.count)
    for prefix in prefixes {
      #expect(prefix.hasPrefix("wormhole.org.example.group.") && prefix.hasSuffix("."))
      #expect(prefix.utf8.count <= 255 && !prefix.utf8.contains(0))
    }
  }

  @Test func aTemporaryOneIsAloneAndGoesWithItsObject() async throws {
    var groups: [AppGroup] = try (1...2).map { _ in try .temporary("org.example.same") }
    let directories = groups.map(\.directory.path)
    #expect(Set(directories).count == 2)
    let (first, second) = (try Wormhole(group: groups[0]), try Wormhole(group: groups[1]))
    let (own, foreign) = (Log<Int?>(), Log<Int?>())
    try first.bind(Listener("own", on: .inline) { own.append($0.value) }, to: .number)
    try second.bind(Listener("foreign", on: .inline) { foreign.append($0.value) }, to: .number)
    try await first.pass(7, to: .number)
    await eventually { own.entries == [7] }
    #expect(foreign.entries == [])
    for hole in [first, second] { hole.unbindAll(from: .number as MessageName<Int>) }
    _ = (consume first, consume second)
    groups = []
    await eventually("the directories are still there") {
      directories.allSatisfy { !FileManager.default.fileExists(atPath: $0) }
    }
  }

  @Test func aTemporaryOneThatTheMainFileKeepsGoesWithItsProcess() async throws {
    let peer = try TemporaryGroup().peer("temporary")
    await peer.waitForSuccess()
    let directory = try #require(peer.lines.first)
    #expect(directory.contains("/wormhole-"))
    let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
    #expect(!FileManager.default.fileExists(atPath: parent))
  }

  @Test(arguments: [0o770, 0o702, 0o777, 0o1777] as [mode_t])
  func isRefusedWhereOthersMayWrite(_ rights: mode_t) throws {
    let temporary = try TemporaryGroup()
    try #require(chmod(temporary.path, rights) == 0)
    #expect(throws: WormholeError.notPrivate(path: temporary.path)) { try temporary.make() }
    #expect(try mode(temporary.path) == rights)
  }

  @Test func saysWhyItCannotBeMade() throws {
    let temporary = try TemporaryGroup()
    let parent = temporary.parent
    try Data().write(to: URL(fileURLWithPath: "\(parent)/file"))
    try #require(symlink("\(parent)/nowhere", "\(parent)/broken") == 0)
    try #require(symlink("/tmp", "\(parent)/link") == 0)
    let long = String(repeating: "x", count: 300)
    let refused: [(String, String, WormholeError)] = [
      ("broken", parent, .notPrivate(path: "\(parent)/broken")),
      ("link", parent, .notPrivate(path: "\(parent)/link")),
      ("file", parent, .notPrivate(path: "\(parent)/file")),
      ("group", "\(parent)/file", .system(code: ENOTDIR, path: "\(parent)/file/group")),
      ("group", "/proc", .system(code: ENOENT, path: "/proc/group")),
      ("group", "\(parent)/missing/\(long)", .system(code: ENAMETOOLONG, path: long)),
      ("", "/tmp", .invalidIdentifier),
    ]
    for (name, directory, error) in refused {
      #expect(throws: error) { try open(name, directory) }
    }
    #expect(!FileManager.default.fileExists(atPath: "\(parent)/nowhere"))
  }

  /// Links lead to a directory whose own path is longer than the system accepts.
  @Test func aDirectoryWhosePathIsTooLongIsAnError() throws {
    let temporary = try TemporaryGroup()
    let (parent, name) = (temporary.parent, String(repeating: "x", count: 200))
    var directory = parent
    for (link, depth) in [("first", 15), ("second", 6)] {
      for _ in 1...depth {
        directory += "/\(name)"
        try #require(mkdir(directory, 0o700) == 0)
      }
      try #require(symlink(directory, "\(parent)/\(link)") == 0)
      directory = "\(parent)/\(link)"
    }
    // Removing all from above would need a longer path.
    defer { try? FileManager.default.removeItem(atPath: "\(parent)/first/\(name)") }
    let hole = try Wormhole(group: open("group", directory))
    let error = expect(.system) { try hole.blocking.pass(1, to: .number) }
    #expect(error?.number == ENAMETOOLONG)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
  func isRefusedIfItBelongsToSomebodyElse() throws {
    let temporary = try TemporaryGroup()
    try #require(chown(temporary.path, 12345, 12345) == 0)
    #expect(throws: WormholeError.notPrivate(path: temporary.path)) { try temporary.make() }
  }

  @Test func neverSharesADirectoryNorLeavesThatOfGroups() throws {
    let temporary = try TemporaryGroup()
    let groups = try strangeNames.map { try open($0, temporary.parent) }
    for (group, name) in zip(groups, strangeNames) {
      #expect(group.identifier == name)
      #expect(group.directory.deletingLastPathComponent().path == temporary.parent)
    }
    let made = try FileManager.default.contentsOfDirectory(atPath: temporary.parent)
    #expect(made.count == strangeNames.count + 1)
    #expect(Set(groups.map(\.directory.path)).count == strangeNames.count)
  }

  @Test func canBeInAnyDirectory() throws {
    let temporary = try TemporaryGroup()
    for parent in ["a b", "a%2Fb", "caf\u{E9}", "cafe\u{301}", "#?&", "x/y/z/"] {
      let path = "\(temporary.parent)/\(parent)"
      let group = try open("group", path)
      let expected = path.hasSuffix("/") ? "\(path)group" : "\(path)/group"
      #expect(Array(group.directory.path.utf8) == Array(expected.utf8))
      #expect(FileManager.default.fileExists(atPath: expected))
    }
  }

  @Test(arguments: [true, false])
  func isWhereTheUserKeepsData(isSet: Bool) async throws {
    let site = try Site()
    let parent = site.temporary.parent
    let program = try Program(
      "wormhole-peer", ["-", "newest", "directory", "x"], on: nil,
      environment: ["XDG_DATA_HOME": isSet ? "\(parent)/data/" : "relative", "HOME": parent])
    await program.waitForSuccess()
    let path = "\(parent)/\(isSet ? "data" : ".local/share")/org.example.group"
    #expect(program.lines == [path])
    #expect(try mode(path) == 0o700)
  }

  private func open(_ identifier: String, _ parent: String) throws -> AppGroup {
    try AppGroup(
      identifier, in: URL(fileURLWithPath: parent), center: DarwinNotificationCenter(bus: .noBus))
  }
}

/// Texts that are not good file names.
let strangeNames = [
  ".", "..", "../x", "a/b", "/", "@count", "\"quotes\" 'and' `more`", "%", "%2F", "a\0b", "\n",
  "👩‍👩‍👧", "虫洞", "caf\u{E9}", "cafe\u{301}", String(repeating: "x", count: 1000),
  String(repeating: "x", count: 999) + "y",
]

/// The rights of a file.
func mode(_ path: String) throws -> mode_t {
  var status = stat()
  try #require(stat(path, &status) == 0)
  return status.st_mode & 0o7777
}

/// The size of a file; 0 if there is none.
func size(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : 0
}
