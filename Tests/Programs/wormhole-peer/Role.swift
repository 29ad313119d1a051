// Knows what a peer takes part in.
import DarwinNotify
import Foundation
import Wormhole

/// A wormhole, and a name in it.
struct Role: Sendable {
  let group: AppGroup
  let hole: Wormhole
  let number: MessageName<Int>
  let data: MessageName<Data>

  /// A dash stands for the directory of groups that the environment names.
  init(parent: String, transit: String, name: String) throws {
    let parent = parent == "-" ? nil : URL(fileURLWithPath: parent)
    group = try AppGroup("org.example.group", in: parent)
    hole = try Wormhole(group: group, transit: transits[transit] ?? .file)
    (number, data) = (MessageName(name), MessageName(name))
  }
}

private let transits: [String: any MessageTransit] = [
  "file": .file,
  "durable-file": .file(durable: true),
  "coordinated-file": .coordinatedFile,
  "log": .log,
  "durable-log": .log(durable: true),
]

/// Prints a line that is seen at once.
func say(_ line: some CustomStringConvertible) {
  print(line)
  fflush(nil)
}

/// The number that a word stands for.
func number(_ word: String) -> Int {
  guard let number = Int(word) else { fatalError("\(word) is no number") }
  return number
}

/// A sum that tells long values apart.
func sum(_ data: Data) -> UInt64 {
  data.withUnsafeBytes { bytes in
    bytes.bindMemory(to: UInt64.self).reduce(UInt64(bytes.count)) { ($0 ^ $1) &* 0x100_0000_01b3 }
  }
}
