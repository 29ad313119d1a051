// Shows the table as it changes.

import DarwinNotify
import Dispatch
import Glibc

/// The command `--top`: once a second, from the table alone.
final class Top: @unchecked Sendable {
  // Everything is used on the queue alone.
  private let queue = DispatchQueue(label: "notifyutil.top")
  private let prefix: String
  private let bus: BusChoice
  private let isOnScreen = Terminal.isThere
  private var frame = TopFrame()
  private var before: [NotificationName: UInt64] = [:]
  private var lastRefresh = DispatchTime.now()
  private var programs: [Int32: String] = [:]
  private var sources: [any DispatchSourceProtocol] = []

  private static let interval = 1.0

  init(prefix: String, bus: BusChoice) {
    self.prefix = prefix
    self.bus = bus
  }

  /// Begins. It goes on until the program ends.
  ///
  /// - Throws: an error of the first reading.
  func start() throws {
    try queue.sync {
      try read()
      if isOnScreen {
        Terminal.begin()
        listen()
      }
      draw()
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(
        deadline: .now() + Self.interval, repeating: Self.interval, leeway: .milliseconds(50))
      timer.setEventHandler { self.refresh() }
      timer.activate()
      sources.append(timer)
    }
  }

  /// Handles keys, and signals that would leave the terminal as it is.
  private func listen() {
    let keys = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
    keys.setEventHandler { self.takeKey() }
    keys.activate()
    sources.append(keys)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { DispatchQueue.global().async { exit(128 + number) } }
      source.activate()
      sources.append(source)
    }
  }

  private func takeKey() {
    var key: UInt8 = 0
    guard Glibc.read(STDIN_FILENO, &key, 1) == 1 else { return sources[0].cancel() }
    let character = Character(Unicode.Scalar(key))
    if character == "q" {
      // exit() waits for handlers, which may wait for the queue.
      return DispatchQueue.global().async { ExitStatus.success.end() }
    }
    guard let order = TopFrame.Order(rawValue: character) else { return }
    frame.order = order
    draw()
  }

  private func refresh() {
    try? read()
    draw()
  }

  private func draw() {
    guard isOnScreen else {
      return Output.print(frame.lines(columns: 80, height: 24).joined(separator: "\n") + "\n")
    }
    let (columns, rows) = Terminal.size
    Terminal.draw(frame.lines(columns: columns, height: rows))
  }

  private func read() throws {
    let table = try TableView(prefix: prefix)
    let now = DispatchTime.now()
    let seconds = Double(now.uptimeNanoseconds - lastRefresh.uptimeNanoseconds) / 1e9
    lastRefresh = now
    frame.title = table.summary(bus)
    frame.rows = table.names.map { name in
      let posts = before[name.name].map { name.generation &- $0 } ?? 0
      return TopFrame.Row(
        name: name.name.rawValue, rate: seconds > 0 ? Double(posts) / seconds : 0,
        total: name.posts, state: name.state, holders: name.holders.count)
    }
    before = Dictionary(
      table.names.map { ($0.name, $0.generation) }, uniquingKeysWith: { first, _ in first })
    frame.processes = lateProcesses(table)
  }

  /// The processes that are stopped or have unread posts, the latest first.
  private func lateProcesses(_ table: TableView) -> [TopFrame.Process] {
    let all = table.processes
    programs = programs.filter { all[$0.key] != nil }
    return all.compactMap { identifier, counts in
      let isStopped = ProcessFiles(identifier: identifier).isStopped
      guard counts.unread > 0 || isStopped else { return nil }
      let program = programs[identifier] ?? ProgramName.of(identifier) ?? "?"
      programs[identifier] = program
      return TopFrame.Process(
        identifier: identifier, program: program, names: counts.names, unread: counts.unread,
        isStopped: isStopped)
    }.sorted { ($1.unread, $0.identifier) < ($0.unread, $1.identifier) }
  }
}
