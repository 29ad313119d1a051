// Measures how long a small message is on its way.

import DarwinNotify
import Foundation
import Wormhole
import WormholeBaseline

/// The time from a pass to the callback in another process, one at a time.
struct LatencyFigures {
  private let extent: Extent
  private let output: Output
  private let bus = baseline_bus_open()
  private let wormhole: Wormhole

  init(_ extent: Extent, on output: Output) throws {
    self.extent = extent
    self.output = output
    wormhole = try Place.openWormhole()
  }

  func run() throws {
    try show(
      "100 bytes to a callback elsewhere",
      [
        byHand(100),
        pass(100, on: "direct", target: .atMost(1.5)), pass(100, on: "queue", target: .atMost(1.5)),
        passReading(on: "direct"), passReading(on: "queue"),
      ])
    try show(
      "64 KiB to a callback elsewhere",
      [byHand(64 << 10), pass(64 << 10, on: "direct"), pass(64 << 10, on: "queue")])
    try show("the bell alone", [signal(), notification()])
  }

  private func show(_ title: String, _ contenders: [Contender]) throws {
    try Contest(title: title, unit: .microseconds, contenders: contenders)
      .show(
        on: output, turns: extent.turns, patience: extent.patience, count: extent.passesPerTurn)
  }

  private func bytes(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0) })
  }

  // MARK: - By hand

  private func byHand(_ count: Int) -> Contender {
    let (path, bytes) = (Place.path("by-hand-\(count)"), bytes(count))
    let child = Child(["baseline", "by-hand-\(count)", path, "\(count + 4096)", "-"])
    return contender("write, rename, signal, read", isOurs: false, child) {
      bytes.withUnsafeBytes { baseline_file_replace(path, $0.baseAddress, $0.count) }
      baseline_bus_ring(bus, "by-hand-\(count)")
    }
  }

  private func signal() -> Contender {
    contender("signal of sd-bus", isOurs: false, Child(["baseline", "signal", "", "0", "-"])) {
      baseline_bus_ring(bus, "signal")
    }
  }

  // MARK: - Ours

  private func pass(_ count: Int, on delivery: String, target: Target? = nil) -> Contender {
    let (name, bytes) = (MessageName<Data>("bytes.\(count).\(delivery)"), bytes(count))
    let child = Child(["bytes", name.rawValue, delivery, "-"])
    return contender("pass Data, .\(delivery)", child, target: target) {
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
    _ title: String, isOurs: Bool = true, _ child: Child, target: Target? = nil,
    _ pass: @escaping () throws -> Void
  ) -> Contender {
    Contender(title: title, isOurs: isOurs, target: target) { count in
      try (0..<count).map { _ in
        let start = baseline_now_ns()
        try pass()
        return Double(child.awaitReport() - start)
      }
    }
  }
}
