// Sets up a wormhole for one test.
import Wormhole

/// A wormhole in a group of its own, and others that use the group.
struct Site: Sendable {
  let bus: PrivateBus?
  let temporary: TemporaryGroup
  let hole: Wormhole
  let queue = DispatchQueue(label: "com.example.site")
  private let kind: Kept
  private let observations = Log<NotificationObservation>()

  init(_ kind: Kept = .newest, on busKind: BusKind? = nil) throws {
    self.kind = kind
    bus = try busKind.map { try PrivateBus($0) }
    temporary = try TemporaryGroup(bus)
    hole = try Wormhole(group: temporary.group)
    if kind.isAll { try keepAll() }
  }

  /// Lets the names of the tests keep all messages.
  func keepAll() throws {
    let names = [MessageName<Int>.number.rawValue, MessageName<Data>.bytes.rawValue]
    for name in names { try store.setKeep(100_000, of: name) }
  }

  var store: MessageStore { temporary.group.store(named: "wormhole") }

  /// The directory of the messages.
  var path: String { store.directory }

  /// The files in the directory of the messages.
  var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []) }

  /// The same wormhole as seen by another process.
  func makeOther() throws -> Wormhole {
    try Wormhole(group: try temporary.make())
  }

  /// Listens as long as the site exists, and records what is heard, on the queue of the site.
  func hear<Value>(
    _ name: MessageName<Value>, from senders: Wormhole.Senders = .all,
    starting start: Wormhole.Start = .new, on delivery: Delivery? = nil
  ) throws -> Log<Wormhole.Message<Value>> {
    let log = Log<Wormhole.Message<Value>>()
    let observation = try hole.listen(
      name, from: senders, starting: start, on: delivery ?? .queue(queue)
    ) { log.append($0) }
    observations.append(observation)
    return log
  }

  /// Starts a process that uses the group.
  func start(
    _ command: String, _ name: String, _ arguments: [any CustomStringConvertible] = [],
    environment: [String: String] = [:]
  ) throws -> Program {
    try Program(
      "wormhole-peer",
      [temporary.parent, kind.rawValue, command, name] + arguments.map(\.description), on: bus,
      environment: environment)
  }

  /// Starts a process that is in the middle of writing until it is killed.
  func startHolder() async throws -> Program {
    let script = """
      import sqlite3, sys, time
      db = sqlite3.connect(sys.argv[1], isolation_level=None)
      db.execute("BEGIN IMMEDIATE")
      print("holds", flush=True)
      time.sleep(3600)
      """
    let holder = try Program("/usr/bin/python3", ["-c", script, store.path], on: nil)
    await holder.waitForLine("holds")
    return holder
  }

  /// Runs a process that uses the group until it ends. Returns the lines it printed.
  func run(
    _ command: String, _ name: String, _ arguments: [any CustomStringConvertible] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> [String] {
    let program = try start(command, name, arguments)
    let outcome = await program.end(sourceLocation: sourceLocation)
    #expect(outcome.status == 0, "\(outcome)", sourceLocation: sourceLocation)
    return program.lines
  }

  /// Returns when everything passed before has been delivered to the listeners of a queue, by
  /// default that of the site.
  func settle(_ queue: DispatchQueue? = nil, behind other: Wormhole? = nil) async throws {
    let center = hole.group.center
    let passed = try Recorder(center, "com.example.fence", on: .inline)
    // Without a bus this throws, only to report that.
    try? (other?.group.center ?? center).post("com.example.fence")
    await eventually("the fence did not arrive") { passed.posts > 0 }
    for _ in 1...2 {
      await finishReads()
      await turn(queue ?? self.queue)
    }
  }

  /// Returns when what the listeners were about to read has reached their queues.
  private func finishReads() async {
    // The store reads on two threads: once they have met here, both have ended their reads.
    let meeting = DispatchGroup()
    for _ in 1...2 { meeting.enter() }
    for _ in 1...2 {
      store.enqueue(.reading) {
        meeting.leave()
        meeting.wait()
      }
    }
    await withCheckedContinuation { met in meeting.notify(queue: .global()) { met.resume() } }
  }
}

extension Wormhole {
  /// Binds a listener that records what it hears of the number.
  func record(
    _ label: String = "label", in log: Log<Message<Int>>, on delivery: Delivery,
    starting start: Start = .new
  ) throws {
    try bind(Listener(label, on: delivery) { log.append($0) }, to: .number, starting: start)
  }
}
