// Posts to this process, to see what arrives and when.

import DarwinNotify
import Dispatch
import Glibc
import Synchronization

/// How long a post of this process took on each way; `nil` if it did not arrive.
struct Probe {
  /// Through the table, between two centers, as between two processes.
  var table: Duration?
  /// Over the bus, to a connection of its own.
  var bus: Duration?
  var isOnBus = false

  private static let patience = Duration.seconds(2)

  static func run() async -> Probe {
    let name = NotificationName("org.darwinnotify.probe.\(getpid())")
    var probe = Probe(isOnBus: DarwinNotificationCenter.shared.isOnBus)
    let arrivals = Arrivals()
    let observation = try? DarwinNotificationCenter.shared.observe(name, on: .thread) { _ in
      arrivals.note(\.table)
    }
    let posts = try? await DarwinNotificationCenter.posts(prefix: name.rawValue)
    let reader = Task {
      guard let posts else { return }
      for try await _ in posts { return arrivals.note(\.bus) }
    }
    let bus = getenv("DARWIN_NOTIFY_BUS").map { String(cString: $0) } ?? ""
    let poster = try? DarwinNotificationCenter(bus: bus.isEmpty ? .session : .address(bus))
    let start = ContinuousClock.now
    try? poster?.post(name)
    while ContinuousClock.now - start < patience, !arrivals.areComplete(probe.isOnBus) {
      try? await Task.sleep(for: .milliseconds(5))
    }
    reader.cancel()
    observation?.cancel()
    probe.table = arrivals.at(\.table).map { $0 - start }
    probe.bus = arrivals.at(\.bus).map { $0 - start }
    return probe
  }

  var findings: [Finding] {
    var findings: [Finding] = []
    if table == nil {
      findings.append(finding("between two centers of this process"))
    }
    if bus == nil, isOnBus { findings.append(finding("over the message bus")) }
    return findings
  }

  private func finding(_ way: String) -> Finding {
    Finding(
      check: "lost-probe", certainty: .seen,
      sentence: "a post of the doctor to itself did not arrive \(way) within 2 seconds",
      remedy: "run the doctor again with DARWIN_NOTIFY_DEBUG=1")
  }

  var line: String {
    func words(_ time: Duration?) -> String {
      time.map { "\(microseconds($0)) µs" } ?? "not at all"
    }
    return "a post to itself arrived: at a handler in \(words(table)), "
      + "over the bus in \(words(bus)); observers of every name heard it"
  }

  var json: JSON {
    .object([
      ("handler_us", table.map { .number(microseconds($0)) } ?? .null),
      ("bus_us", bus.map { .number(microseconds($0)) } ?? .null),
    ])
  }

  private func microseconds(_ time: Duration) -> Int64 {
    time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
  }

  /// When the post was heard.
  private final class Arrivals: Sendable {
    struct Times {
      var table: ContinuousClock.Instant?
      var bus: ContinuousClock.Instant?
    }
    private let times = Mutex(Times())

    func note(_ way: any WritableKeyPath<Times, ContinuousClock.Instant?> & Sendable) {
      let now = ContinuousClock.now
      times.withLock { if $0[keyPath: way] == nil { $0[keyPath: way] = now } }
    }

    func at(_ way: WritableKeyPath<Times, ContinuousClock.Instant?>) -> ContinuousClock.Instant? {
      times.withLock { $0[keyPath: way] }
    }

    func areComplete(_ isOnBus: Bool) -> Bool {
      times.withLock { $0.table != nil && (!isOnBus || $0.bus != nil) }
    }
  }
}
