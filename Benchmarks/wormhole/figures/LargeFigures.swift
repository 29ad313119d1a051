// Measures how long a large message is on its way, and how often its bytes are copied.

import Foundation
import Wormhole
import WormholeBaseline

/// The time from a pass to the callback that has seen all bytes, and what that took of the kernel.
struct LargeFigures {
  private let extent: Extent
  private let output: Output
  private let bus = baseline_bus_open()
  private let wormhole: Wormhole
  private let bytes = Data((0..<size / 8).flatMap { _ in [1, 2, 3, 4, 5, 6, 7, 8] as [UInt8] })
  private let tally = Tally()

  private static let size = 64 << 20

  /// What the last pass of each contender took.
  private final class Tally {
    var rows: [[String]] = []
  }

  init(_ extent: Extent, on output: Output) throws {
    self.extent = extent
    self.output = output
    wormhole = try Place.openWormhole()
  }

  func run() throws {
    let contest = Contest(
      title: "64 MiB to a callback that looks at all of it", unit: .milliseconds,
      contenders: [byHand(), pass()])
    try contest.show(on: output, turns: extent.largePasses, patience: 0, count: 1)
    var table = Table(columns: [
      "64 MiB, in bytes for each byte", "written", "read", "sender's memory", "receiver's memory",
      "receiver's map", "sender's page faults", "receiver's page faults",
    ])
    for row in tally.rows.suffix(contest.contenders.count) { table.add(row) }
    table.add(["target of a pass", "<= 1.01", "<= 0.01", "<= 0.01", "<= 0.01", "<= 1.01", "", ""])
    try output.show(table)
  }

  private func byHand() -> Contender {
    let path = Place.path("by-hand-large")
    let child = Child(["baseline", "large", path, "\(Self.size + 4096)", "holds"])
    return contender("write, rename, signal, read", isOurs: false, child) {
      bytes.withUnsafeBytes { baseline_file_replace(path, $0.baseAddress, $0.count) }
      baseline_bus_ring(bus, "large")
    }
  }

  private func pass() -> Contender {
    let name: MessageName<Data> = "large"
    return contender("pass Data, .direct", Child(["bytes", name.rawValue, "direct", "holds"])) {
      try wormhole.pass(bytes, to: name)
    }
  }

  private func contender(
    _ title: String, isOurs: Bool = true, _ child: Child, _ pass: @escaping () throws -> Void
  ) -> Contender {
    let idleReceiver = ProcessCounters(of: child.identifier)
    return Contender(title: title, isOurs: isOurs) { count in
      try (0..<count).map { _ in
        let senderBefore = ProcessCounters(of: getpid())
        let receiverBefore = ProcessCounters(of: child.identifier)
        let start = baseline_now_ns()
        try pass()
        let sentAt = child.awaitReport()
        // The receiver still holds what it has got.
        let sender = ProcessCounters(of: getpid()).since(
          senderBefore, memorySince: senderBefore)
        let receiver = ProcessCounters(of: child.identifier).since(
          receiverBefore, memorySince: idleReceiver)
        child.release()
        tally.rows.append(Self.row(title, sender, receiver))
        return Double(sentAt - start)
      }
    }
  }

  private static func row(
    _ title: String, _ sender: ProcessCounters, _ receiver: ProcessCounters
  ) -> [String] {
    let shares = [
      sender.bytesWritten, receiver.bytesRead, sender.anonymousBytes, receiver.anonymousBytes,
      receiver.mappedBytes,
    ]
    return [title] + shares.map { Table.number(Double($0) / Double(size), digits: 4) }
      + ["\(sender.pageFaults)", "\(receiver.pageFaults)"]
  }
}
