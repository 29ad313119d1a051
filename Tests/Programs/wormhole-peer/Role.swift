// The wormhole and name that a peer uses.
import DarwinNotify
import Foundation
import Wormhole

/// A wormhole, and a name in it.
struct Role: Sendable {
  let group: AppGroup
  let hole: Wormhole
  let number: MessageName<Int>
  let data: MessageName<Data>

  /// A dash stands for the directory of groups from the environment.
  init(parent: String, keep: String, name: String) throws {
    let parent = parent == "-" ? nil : URL(fileURLWithPath: parent)
    group = try AppGroup("org.example.group", in: parent)
    hole = try Wormhole(group: group)
    let (kept, isDurable) = (keeps[keep] ?? .newest, keep == "durable")
    number = MessageName(name, keep: kept, durable: isDurable)
    data = MessageName(name, keep: kept, durable: isDurable)
  }
}

private let keeps: [String: Wormhole.Keep] = [
  "newest": .newest, "history": .last(100_000), "durable": .newest,
]

/// Prints a line at once.
func say(_ line: some CustomStringConvertible) {
  print(line)
  fflush(nil)
}

/// The number in an argument.
func number(_ word: String) -> Int {
  guard let number = Int(word) else { fatalError("\(word) is not a number") }
  return number
}
