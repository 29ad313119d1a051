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
      _ = try Wormhole(group: temporary.make()).pass(1, to: .number)
      #expect(try mode(temporary.path) == rights)
    }
  }

  @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
  func whatCannotBeWrittenFailsWhenItIsWritten() throws {
    let temporary = try TemporaryGroup()
    let hole = try Wormhole(group: temporary.group)
    try hole.pass(1, to: .number)
    try #require(chmod(temporary.path, 0o500) == 0 && chmod(hole.directory.path, 0o500) == 0)
    let other = try Wormhole(group: temporary.make())
    #expect(try other.message(.number) == 1)
    #expect(throws: WormholeError.self) { try other.pass(2, to: .other) }
    try #require(chmod(temporary.path, 0o700) == 0 && chmod(hole.directory.path, 0o700) == 0)
  }

  @Test func aTemporaryOneIsAloneAndGoesWithItsObject() async throws {
    var groups: [AppGroup] = try (1...2).map { _ in try .temporary("org.example.same") }
    let directories = groups.map(\.directory.path)
    #expect(Set(directories).count == 2)
    let (first, second) = (try Wormhole(group: groups[0]), try Wormhole(group: groups[1]))
    let (own, foreign) = (Log<Int?>(), Log<Int?>())
    try first.bind(Listener("own", on: .direct) { own.append($0.value) }, to: .number)
    try second.bind(Listener("foreign", on: .direct) { foreign.append($0.value) }, to: .number)
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

  @Test(arguments: [0o770, 0o702, 0o777, 0o1777] as [mode_t])
  func isRefusedWhereOthersMayWrite(_ rights: mode_t) throws {
    let temporary = try TemporaryGroup()
    try #require(chmod(temporary.path, rights) == 0)
    #expect(throws: WormholeError.notPrivate(path: temporary.path)) { try temporary.make() }
    #expect(try mode(temporary.path) == rights)
  }

  @Test func isRefusedAsASymbolicLink() throws {
    let temporary = try TemporaryGroup()
    let link = "\(temporary.parent)/link"
    for target in [temporary.path, "\(temporary.parent)/nowhere"] {
      try #require(symlink(target, link) == 0)
      #expect(throws: WormholeError.notPrivate(path: link)) { try open("link", temporary.parent) }
      unlink(link)
    }
    #expect(!FileManager.default.fileExists(atPath: "\(temporary.parent)/nowhere"))
  }

  @Test func isRefusedAsAFile() throws {
    let temporary = try TemporaryGroup()
    let file = "\(temporary.parent)/file"
    try Data().write(to: URL(fileURLWithPath: file))
    #expect(throws: WormholeError.notPrivate(path: file)) { try open("file", temporary.parent) }
    #expect(throws: WormholeError.system(code: ENOTDIR, path: "\(file)/group")) {
      try open("group", file)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
  func isRefusedIfItBelongsToSomebodyElse() throws {
    let temporary = try TemporaryGroup()
    try #require(chown(temporary.path, 12345, 12345) == 0)
    #expect(throws: WormholeError.notPrivate(path: temporary.path)) { try temporary.make() }
  }

  @Test func saysWhyItCannotBeMade() throws {
    #expect(throws: WormholeError.system(code: ENOENT, path: "/proc/group")) {
      try open("group", "/proc")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become somebody else"))
  func saysWhyAnotherUserCannotMakeIt() async throws {
    let site = try Site()
    let directory = "\(site.temporary.parent)/closed"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o755])
    let lines = try await site.run("directories", "x", [65534, "group", directory])
    #expect(lines.last?.contains("Permission denied") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
  }

  @Test func isRefusedWithoutAnIdentifier() throws {
    #expect(throws: WormholeError.invalidIdentifier) { try open("", "/tmp") }
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

  @Test func hasADirectoryThatEndsWithTheSession() async throws {
    let site = try Site()
    let parent = site.temporary.parent
    let program = try Program(
      "wormhole-peer", ["-", "file", "directories", "x"], on: nil,
      environment: ["XDG_RUNTIME_DIR": "\(parent)/run", "XDG_DATA_HOME": "\(parent)/data/"])
    await program.waitForSuccess()
    let expected = ["\(parent)/data/org.example.group", "\(parent)/run/org.example.group"]
    #expect(program.lines == expected)
    for path in expected { #expect(try mode(path) == 0o700) }
  }

  @Test func isInTheHomeDirectoryByDefault() async throws {
    let site = try Site()
    let program = try Program(
      "wormhole-peer", ["-", "file", "directories", "x"], on: nil,
      environment: [
        "XDG_RUNTIME_DIR": "", "XDG_DATA_HOME": "relative", "HOME": site.temporary.parent,
      ])
    await program.waitForSuccess()
    let home = "\(site.temporary.parent)/.local/share/org.example.group"
    #expect(program.lines == [home, "/dev/shm/wormhole-\(geteuid())/org.example.group"])
    try? FileManager.default.removeItem(atPath: program.lines.last ?? "")
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
