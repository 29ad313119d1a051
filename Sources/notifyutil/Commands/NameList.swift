// Prints the names that are in use.
import DarwinNotify
import Glibc

struct NameList {
  let isJSON: Bool

  /// Prints them, or ends the program with status 1.
  func print() {
    do throws(DarwinNotifyError) {
      try connect()
      let names = try DarwinNotificationCenter.names()
      if isJSON {
        Output.print(JSON.array(names.map(json)).text)
      } else {
        names.map(line).forEach(Output.print)
      }
    } catch {
      Failure.report("--list", error)
      exit(EXIT_FAILURE)
    }
  }

  /// Fails when there is no bus: to list its names asks only for its table.
  private func connect() throws(DarwinNotifyError) {
    try DarwinNotificationCenter.watchPosts(ready: { .stop }) { _ in .stop }
  }

  private func line(for name: NameRecord) -> String {
    let holders = name.holders.map { $0.map { "\($0)" } ?? "?" }.joined(separator: " ")
    return printable(name.name.rawValue)
      + " generation \(name.generation) state \(name.state) pids \(holders)"
  }

  private func json(for name: NameRecord) -> JSON {
    .object([
      ("name", .string(name.name.rawValue)),
      ("generation", .number(name.generation)),
      ("state", .string("\(name.state)")),
      ("pids", .array(name.holders.map { $0.map { .number($0) } ?? .null })),
    ])
  }
}
