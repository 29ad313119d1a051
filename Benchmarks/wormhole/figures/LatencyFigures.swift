// Measures how long a small message is on its way.

import DarwinNotify
import Foundation
import Wormhole
import WormholeBaseline

/// The time from a pass to the callback in another process, one at a time.
struct LatencyFigures {
  private let extent: Extent
  private let bus = baseline_bus_open()
  private let wormhole: Wormhole
  private let bytes = Data((0..<100).map { UInt8($0) })

  init(_ extent: Extent) throws {
    self.extent = extent
    wormhole = try Place.openWormhole()
  }

  func print() throws {
    try Contest(
      title: "100 bytes to a callback elsewhere", unit: .microseconds,
      contenders: [
        byHand(),
        passBytes(on: "direct"), passBytes(on: "queue"),
        passReading(on: "direct"), passReading(on: "queue"),
      ]
    ).print(turns: extent.turns, patience: extent.patience, count: extent.passesPerTurn)
    try Contest(
      title: "the bell alone", unit: .microseconds, contenders: [signal(), notification()]
    ).print(turns: extent.turns, patience: extent.patience, count: extent.passesPerTurn)
  }

  // MARK: - By hand

  private func byHand() -> Contender {
    let path = Place.path("by-hand")
    return contender(
      "write, rename, signal, read", Child(["baseline", "by-hand", path, "4096", "-"])
    ) {
      bytes.withUnsafeBytes { baseline_file_replace(path, $0.baseAddress, $0.count) }
      baseline_bus_ring(bus, "by-hand")
    }
  }

  private func signal() -> Contender {
    contender("signal of sd-bus", Child(["baseline", "signal", "", "0", "-"])) {
      baseline_bus_ring(bus, "signal")
    }
  }

  // MARK: - Ours

  private func passBytes(on delivery: String) -> Contender {
    let name = MessageName<Data>("bytes.\(delivery)")
    let child = Child(["bytes", name.rawValue, delivery, "-"])
    return contender("pass Data, .\(delivery)", child, target: .atMost(1.5)) {
      try wormhole.pass(bytes, to: name)
    }
  }

  private func passReading(on delivery: String) -> Contender {
    let name = MessageName<Reading>("reading.\(delivery)")
    let child = Child(["readings", name.rawValue, delivery])
    return contender("pass Codable, .\(delivery)", child, target: .atMost(1.5)) {
      try wormhole.pass(Reading(), to: name)
    }
  }

  private func notification() -> Contender {
    let name: NotificationName = "org.example.figures.bell"
    return contender("Darwin notification, .direct", Child(["notification", name.rawValue])) {
      try DarwinNotificationCenter.shared.post(name)
    }
  }

  private func contender(
    _ title: String, _ child: Child, target: Target? = nil, _ pass: @escaping () throws -> Void
  ) -> Contender {
    Contender(title: title, target: target) { count in
      try (0..<count).map { _ in
        let start = baseline_now_ns()
        try pass()
        return Double(child.awaitReport() - start)
      }
    }
  }
}
