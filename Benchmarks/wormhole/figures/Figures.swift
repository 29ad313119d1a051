// Runs all that is measured.

import Glibc
import TestSupport

/// How much is measured.
struct Extent {
  /// How often the contenders take turns at least.
  let turns: Int

  /// How many seconds they may take further turns, up to four times as many.
  let patience: Double

  /// How many messages are passed each time, where one is waited for before the next.
  let passesPerTurn: Int

  /// How many messages are passed each time, where nobody waits for them.
  let rowsPerTurn: Int

  /// The same where each may wait for the disk, as some file systems do when a file is replaced.
  let waitingRowsPerTurn: Int

  /// How many large messages are passed.
  let largePasses: Int

  static let thorough = Extent(
    turns: 25, patience: 10, passesPerTurn: 40, rowsPerTurn: 1000, waitingRowsPerTurn: 50,
    largePasses: 15)
  static let smoke = Extent(
    turns: 1, patience: 0, passesPerTurn: 10, rowsPerTurn: 20, waitingRowsPerTurn: 5,
    largePasses: 1)
}

/// The whole benchmark, on a bus and in a directory of its own.
struct Figures {
  private let extent: Extent
  private let output: Output

  init(_ extent: Extent, on output: Output) {
    self.extent = extent
    self.output = output
  }

  func run() throws {
    let bus = test_bus_begin()
    defer { _ = test_bus_stop(bus) }
    setenv("XDG_DATA_HOME", Place.path("data"), 1)
    if case .text = output {
      print("bus: \(test_bus_is_broker(bus) ? "dbus-broker" : "dbus-daemon")")
      print("files: \(Place.path(""))\n")
    }
    try LatencyFigures(extent, on: output).run()
    try LargeFigures(extent, on: output).run()
    try RateFigures(extent, on: output).run()
  }
}
