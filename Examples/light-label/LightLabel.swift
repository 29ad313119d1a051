// Shows the light that light-switch switches.
//
//     swift run light-label [number of lines to show]
import Glibc
import LightsKit
import Wormhole

@main
struct LightLabel {
  static func main() async throws {
    let limit = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? .max
    let (lines, label) = AsyncStream.makeStream(of: String.self)
    let group = try Lights.openGroup()
    let hole = try Wormhole(group: group)
    let database = try group.choices()

    // A named listener: first gets what is stored, or that nothing is; then everything passed.
    let listener = Listener<Wormhole.Message<Bool>>("label") { message in
      label.yield("light: \(message.text { $0 ? "on" : "off" })")
    }
    try hole.bind(listener, to: .lightState, starting: .lastOrAbsent)

    // Sequences: registered before they are returned. All levels arrive, since a few are kept.
    let levels = try hole.messages(.lightLevel)
    let colours = try group.defaults.changes(of: .lightColour)
    let changes = try database.changes(in: ["choice"])

    try await withThrowingTaskGroup { tasks in
      tasks.addTask {
        for try await level in levels { label.yield("level: \(level.text { "\($0)" })") }
      }
      tasks.addTask {
        for try await colour in colours {
          label.yield("colour: \(try colour.value)\(by(colour.sender))")
        }
      }
      tasks.addTask {
        label.yield("choices: \(try await choices(in: database))")
        for try await change in changes {
          let rows = change.rowIDs["choice", default: []].sorted()
          let list = try await choices(in: database)
          label.yield("choices: \(list), rows \(rows) changed\(by(change.sender))")
        }
      }
      tasks.addTask {
        for await line in lines.prefix(limit) { say(line) }
      }
      // After the last line, or an error, the other tasks are cancelled.
      defer { tasks.cancelAll() }
      try await tasks.next()
    }
  }
}

/// Lists the choices with their weights, the heaviest first.
func choices(in database: SharedDatabase) async throws -> String {
  let rows = try await database.read { database in
    try database.rows("SELECT name, weight FROM choice ORDER BY question, weight DESC, name")
  }
  let list = rows.map { "\($0["name"] ?? "") \($0["weight"] ?? 0)" }
  return list.isEmpty ? "none" : list.joined(separator: ", ")
}

extension Wormhole.Message {
  /// The message, and who passed it.
  func text(_ describe: (Value) -> String) -> String {
    switch content {
    case .value(let value): "\(describe(value))\(by(sender))"
    case .ping: "rung\(by(sender))"
    case .cleared: "cleared\(by(sender))"
    case .absent: "unknown"
    case .unreadable(let error): "unreadable: \(error)"
    }
  }
}

func by(_ sender: Sender?) -> String {
  sender.map { ", by \($0.process ?? 0)" } ?? ""
}

/// Prints a line at once, even into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}
