// Provides what a user has on one machine.
import DarwinNotify
import Foundation
import Glibc
import Testing
import Wormhole

/// A session with a bus, directories and a relay of its own. Two of them are two machines.
final class Session: @unchecked Sendable {
  // One test uses it, one call at a time.
  let bus: PrivateBus
  let center: DarwinNotificationCenter
  fileprivate let home: String
  private(set) var relay: Program?

  init(_ kind: BusKind = .usual) throws {
    bus = try PrivateBus(kind)
    center = try bus.makeCenter()
    home = try makeDirectory("session")
    for folder in ["run", "state", "data"] { mkdir("\(home)/\(folder)", 0o700) }
  }

  var environment: [String: String] {
    [
      "HOME": home, "XDG_RUNTIME_DIR": "\(home)/run", "XDG_STATE_HOME": "\(home)/state",
      "XDG_DATA_HOME": "\(home)/data", "XDG_CONFIG_HOME": "\(home)/config",
    ]
  }

  /// Starts the relay, and waits until it has joined the realm.
  func start(_ settings: [String], isOnline: Bool = true) async throws {
    relay = try Program("notifyrelay", settings, on: bus, environment: environment)
    if isOnline { await join() }
  }

  func join() async {
    await eventually("the relay is not online") { [self] in
      if relay?.isRunning != true { return true }
      return await status()?.realms.allSatisfy { $0.state == "online" } == true
    }
    #expect(relay?.isRunning == true, "the relay has ended: \(relay?.errors ?? "")")
  }

  /// Ends the relay, in an orderly way or in the middle of whatever it does.
  @discardableResult func end(_ signal: CInt = SIGTERM) async -> Outcome? {
    guard let relay else { return nil }
    kill(relay.processIdentifier, signal)
    self.relay = nil
    return await relay.end()
  }

  /// Runs the program beside the relay.
  func run(
    _ arguments: [String], changing variables: [String: String] = [:]
  ) async throws -> Outcome {
    try await Program.run(
      "notifyrelay", arguments, on: bus, environment: environment.merging(variables) { $1 })
  }

  /// What the relay says of itself; `nil` while it does not run.
  func status() async -> SeenStatus? {
    let answer = readAll(fromSocket: "\(home)/run/notifyrelay")
    return try? JSONDecoder().decode(SeenStatus.self, from: answer)
  }

  func counts() async -> SeenStatus.Counts? { await status()?.realms.first?.counts }

  /// Records the posts of a name. May kill the relay that runs now when it hears the first.
  func observe(_ name: NotificationName, killing isKilling: Bool = false) throws -> Heard {
    try Heard(name, on: center, killing: isKilling ? relay : nil)
  }

  /// The directory of groups.
  var groups: URL { URL(fileURLWithPath: "\(home)/data") }

  func hole(_ group: String = "org.example.lights") throws -> Wormhole {
    try Wormhole(group: AppGroup(group, in: groups, center: center))
  }

  /// Locks the store, until the program that is returned ends.
  func lockStore(_ group: String = "org.example.lights") async throws -> Program {
    let mark = "\(home)/locked"
    let script = """
      import sqlite3, sys, time
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      db.execute("BEGIN IMMEDIATE")
      open(sys.argv[2], "w").close()
      time.sleep(600)
      """
    let store = "\(home)/data/\(group)/wormhole/store.sqlite"
    let program = try Program("/usr/bin/python3", ["-c", script, store, mark], on: nil)
    await eventually("the store is not locked") { access(mark, F_OK) == 0 }
    unlink(mark)
    return program
  }

  /// Waits until the relay ends by itself.
  func outcome() async -> Outcome? { await relay?.end() }

  func notifyUtil(_ arguments: [String]) async throws -> Outcome {
    try await runNotifyUtil(arguments, on: bus, environment: environment)
  }

  /// Writes a file in the home directory. Returns its path.
  func write(_ text: String, to file: String) throws -> String {
    let path = "\(home)/\(file)"
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// Writes a file that nobody else can read.
  func credentials(_ user: String, _ password: String) throws -> String {
    let path = try write("user = \(user)\npassword = \(password)\n", to: "credentials")
    try #require(chmod(path, 0o600) == 0)
    return path
  }

  /// Becomes what a copied home directory is.
  func copyOrigin(of other: Session) throws {
    mkdir("\(home)/state/notifyrelay", 0o700)
    try FileManager.default.copyItem(
      atPath: "\(other.home)/state/notifyrelay/origin", toPath: "\(home)/state/notifyrelay/origin")
  }
}

extension Session {
  /// Copies what the relay remembers. Returns the path of the copy.
  func saveState() throws -> String {
    let copy = "\(home)/saved"
    try FileManager.default.copyItem(atPath: "\(home)/state/notifyrelay", toPath: copy)
    return copy
  }

  /// Replaces what the relay remembers.
  func restoreState(_ copy: String) throws {
    try FileManager.default.removeItem(atPath: "\(home)/state/notifyrelay")
    try FileManager.default.copyItem(atPath: copy, toPath: "\(home)/state/notifyrelay")
  }

  /// Makes the directory of states a symbolic link, as on a machine whose disk was full.
  func moveStateBehindALink() throws {
    try FileManager.default.moveItem(atPath: "\(home)/state", toPath: "\(home)/moved")
    try FileManager.default.createSymbolicLink(
      atPath: "\(home)/state", withDestinationPath: "\(home)/moved")
  }

  /// Removes the table that the relay uses, as a cleaner of temporary files may.
  func removeTable() throws {
    let process = try #require(relay).processIdentifier
    // Not by String or Data, which read only the first page of a file of procfs.
    let file = try #require(FileHandle(forReadingAtPath: "/proc/\(process)/maps"))
    let maps = String(decoding: try #require(try file.readToEnd()), as: UTF8.self)
    let line = maps.split(separator: "\n").first { $0.contains("/darwin-notify") }
    let path = try #require(line?.firstIndex(of: "/").flatMap { line?[$0...] })
    try #require(unlink(String(path)) == 0)
  }

  /// The most memory that the relay has used, in kilobytes.
  func peakMemory() throws -> Int {
    let status = try String(
      contentsOfFile: "/proc/\(try #require(relay).processIdentifier)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return try #require(line?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
  }

  /// Waits until the relay does not answer for a second.
  func waitUntilRelayIsBusy() throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while !readAll(fromSocket: "\(home)/run/notifyrelay", seconds: 1).isEmpty {
      try #require(.now < deadline, "the relay still answers")
      usleep(1_000)
    }
  }

  /// Kills the relay without waiting for its end.
  func killNow() { relay?.send(SIGKILL) }

  /// Makes the relay die when it next writes to a file, in the middle of whatever it does.
  func killWhenItStores() async throws {
    let relay = "\(try #require(relay).processIdentifier)"
    let arguments = ["--pid", relay, "--fsize=0"]
    try #require(await Program.run("/usr/bin/prlimit", arguments, on: nil).status == 0)
  }

  /// Stops the relay and returns it. What is published until SIGCONT is read in one turn.
  func stopRelay() async throws -> Program {
    let relay = try #require(relay)
    relay.send(SIGSTOP)
    await relay.waitUntilStopped()
    return relay
  }

  /// Waits until the relay ends, from where one may block.
  func waitUntilRelayEnds() throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while relay?.isRunning == true {
      try #require(.now < deadline, "the relay still runs")
      usleep(1_000)
    }
  }

  /// The state of a name, as a program sees it.
  func state(of name: NotificationName) async throws -> UInt64? {
    let output = try await notifyUtil(["-g", name.rawValue]).output
    return output.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0) }
  }
}

/// Reads what somebody writes who listens on a socket; nothing if nobody does within seconds.
private func readAll(fromSocket path: String, seconds: Int = 5 * slowness) -> Data {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  defer { close(descriptor) }
  var limit = timeval(tv_sec: seconds, tv_usec: 0)
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  let result = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
    }
  }
  guard result == 0 else { return Data() }
  var answer = Data()
  var buffer = [UInt8](repeating: 0, count: 65536)
  while case let n = read(descriptor, &buffer, buffer.count), n > 0 { answer += buffer[..<n] }
  return answer
}

/// The answer to `--status --json`, as a program would read it.
struct SeenStatus: Decodable, Sendable {
  var origin: String
  var names: Int
  var realms: [Realm]

  struct Realm: Decodable, Sendable {
    var state: String
    var problem: String?
    var peers: [Peer]
    var counts: Counts
  }

  struct Peer: Decodable, Sendable {
    var origin: String
    var state: String?
  }

  struct Counts: Decodable, Sendable {
    var sent: Int
    var received: Int
    var posted: Int
    var stored: Int
    var superseded: Int
    var repeated: Int
    var malformed: Int
    var newer: Int
    var tooLarge: Int
    var notShared: Int
    var refused: Int
    var gaps: Int
  }
}

/// The posts of a name that were heard.
final class Heard: Sendable {
  private let recorder = Recorder()
  private let observation: NotificationObservation

  init(
    _ name: NotificationName, on center: DarwinNotificationCenter, killing relay: Program? = nil
  ) throws {
    observation = try center.observe(name, on: .thread) { [recorder] event in
      relay?.send(SIGKILL)
      recorder.record(event)
    }
  }

  var posts: Int { recorder.posts }

  func wait(for count: Int, sourceLocation: SourceLocation = #_sourceLocation) async {
    await eventually("heard \(posts) of \(count)", sourceLocation: sourceLocation) {
      self.posts >= count
    }
  }
}

/// Two machines and a broker, with their relays running.
struct Pair: Sendable {
  let here: Session
  let there: Session
  let broker: TestBroker

  init(_ kind: BusKind = .usual, keeps: Bool = false, settings: [String] = Pair.settings)
    async throws
  {
    try await self.init(kind, on: TestBroker(keeps: keeps), settings: settings)
  }

  init(
    _ kind: BusKind = .usual, on broker: TestBroker, settings: [String] = Pair.settings
  ) async throws {
    self.broker = broker
    (here, there) = (try Session(kind), try Session(kind))
    try await broker.start()
    for session in [here, there] { try await session.start(realm(settings)) }
    await meet()
  }

  static let settings = ["--share", "com.example.", "--share-group", "org.example.lights"]

  func realm(_ settings: [String] = Pair.settings) -> [String] { broker.realm(settings) }

  /// Waits until each knows that the other one is online.
  func meet() async {
    for session in [here, there] {
      await session.join()
      await eventually("they do not meet") {
        await session.status()?.realms.first?.peers.first?.state == "online"
      }
    }
  }
}
