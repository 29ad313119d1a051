// Measures how many messages can be passed in a second.

import DarwinNotify
import Foundation
import Wormhole
import WormholeBaseline

/// Passes that nobody waits for, beside rows that are put into a table by hand.
struct RateFigures {
  private let extent: Extent
  private let output: Output
  private let bus = baseline_bus_open()
  private let wormhole: Wormhole
  private let silent: Wormhole
  private let bytes = Data((0..<100).map { UInt8($0) })

  /// More rows than the write-ahead log of a database has pages before it is used from the start
  /// again: as long as the file grows, waiting for the disk takes longer.
  private static let rowsOfFullLog = 1200

  init(_ extent: Extent, on output: Output) throws {
    self.extent = extent
    self.output = output
    wormhole = try Place.openWormhole()
    silent = try Place.openWormhole(center: DarwinNotificationCenter(bus: .none))
  }

  func run() throws {
    try runFiles()
    try runDefaults()
    for isDurable in [false, true] {
      for isHeard in [false, true] {
        try runLog(isDurable: isDurable, isHeard: isHeard)
      }
    }
  }

  // MARK: - Files

  private func runFiles() throws {
    let path = Place.path("by-hand-rate")
    try Contest(
      title: "files, nobody listens", unit: .perSecond,
      contenders: [
        contender("write, rename, signal", isOurs: false) {
          bytes.withUnsafeBytes { baseline_file_replace(path, $0.baseAddress, $0.count) }
          baseline_bus_ring(bus, "rate")
        },
        passes("pass Data, .file", to: "rate"),
        passes("pass Data, .file, no bus", to: "silent rate", of: silent),
      ]
    ).show(
      on: output, turns: extent.turns, patience: extent.patience, count: extent.waitingRowsPerTurn)
  }

  private func passes(
    _ title: String, to name: MessageName<Data>, of wormhole: Wormhole? = nil
  ) -> Contender {
    let wormhole = wormhole ?? self.wormhole
    return contender(title) { try wormhole.pass(bytes, to: name) }
  }

  // MARK: - Defaults

  private func runDefaults() throws {
    let log = openLog("by-hand-defaults", isDurable: false)
    defer { _ = baseline_log_close(log) }
    let defaults = try wormhole.group.defaults
    let key = DefaultsKey("count", default: 0)
    try Contest(
      title: "defaults, nobody listens", unit: .perSecond,
      contenders: [
        contender("INSERT", isOurs: false) { insert(into: log) },
        contender("transaction of one change") { try defaults.update(key) { $0 += 1 } },
      ]
    ).show(on: output, turns: extent.turns, patience: extent.patience, count: extent.rowsPerTurn)
  }

  // MARK: - Logs

  private func runLog(isDurable: Bool, isHeard: Bool) throws {
    let variant = "\(isDurable ? "durable" : "plain")\(isHeard ? ", heard" : "")"
    let logs = ["alone", "with signal"].map { openLog("\(variant), \($0)", isDurable: isDurable) }
    defer { logs.forEach { _ = baseline_log_close($0) } }
    let name = try fillLog("log \(variant)", isDurable: isDurable)
    let silentName = try fillLog("silent log \(variant)", isDurable: isDurable)
    try Contest(
      title: "log, synchronous \(isDurable ? "FULL" : "NORMAL")\(isHeard ? ", one listens" : "")",
      unit: .perSecond,
      contenders: [
        contender("INSERT", isOurs: false) { insert(into: logs[0]) },
        contender("INSERT, signal", isOurs: false) {
          insert(into: logs[1])
          baseline_bus_ring(bus, "log")
        },
        isHeard ? heardPasses(to: name) : passesToLog(name),
        passes("pass Data, .log, no bus", to: silentName, of: silent),
      ]
    ).show(
      on: output, turns: extent.turns, patience: extent.patience,
      count: isDurable ? extent.waitingRowsPerTurn : extent.rowsPerTurn)
  }

  private func openLog(_ name: String, isDurable: Bool) -> OpaquePointer? {
    let log = baseline_log_open(Place.path(name))
    for _ in 0..<Self.rowsOfFullLog { insert(into: log) }
    if isDurable { baseline_log_make_durable(log) }
    return log
  }

  /// The same for a wormhole. It uses one file, whether it waits for the disk or not.
  private func fillLog(_ name: String, isDurable: Bool) throws -> MessageName<Data> {
    let quick = MessageName<Data>(name, transit: .log)
    for _ in 0..<Self.rowsOfFullLog { try wormhole.pass(bytes, to: quick) }
    return MessageName(name, transit: .log(durable: isDurable))
  }

  private func insert(into log: OpaquePointer?) {
    bytes.withUnsafeBytes { baseline_log_insert(log, $0.baseAddress, $0.count) }
  }

  private func passesToLog(_ name: MessageName<Data>) -> Contender {
    contender("pass Data, .log", target: .atLeast(0.6)) { try wormhole.pass(bytes, to: name) }
  }

  /// Each turn ends when the listener has nothing to do any more, so that it does not disturb the
  /// turn of another.
  private func heardPasses(to name: MessageName<Data>) -> Contender {
    let child = Child(["log", name.rawValue])
    return contender("pass Data, .log", target: .atLeast(0.6)) {
      try wormhole.pass(bytes, to: name)
    } after: {
      try wormhole.pass(Data([1]), to: name)
      _ = child.awaitReport()
    }
  }

  private func contender(
    _ title: String, isOurs: Bool = true, target: Target? = nil,
    _ pass: @escaping () throws -> Void,
    after: @escaping () throws -> Void = {}
  ) -> Contender {
    Contender(title: title, isOurs: isOurs, target: target) { count in
      let start = baseline_now_ns()
      for _ in 0..<count { try pass() }
      let end = baseline_now_ns()
      try after()
      return [Double(end - start) / Double(count)]
    }
  }
}
