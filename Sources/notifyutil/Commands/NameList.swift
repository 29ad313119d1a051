// Prints the names in use.
import DarwinNotify

struct NameList {
  let isJSON: Bool
  let failures: Failures

  /// Prints the names, or ends the program.
  func print() {
    do throws(DarwinNotifyError) {
      let names = try DarwinNotificationCenter.names()
      if isJSON {
        Output.print(JSON.array(names.map(json)).text)
      } else if !names.isEmpty {
        let head = ["NAME", "GENERATION", "STATE", "PROCESSES"]
        aligned([head] + names.map(row)).forEach(Output.print)
      }
    } catch {
      failures.report(.list, error)
      failures.status.end()
    }
  }

  private func row(for name: NameRecord) -> [String] {
    let processes = name.holders.map { pid in
      guard let pid else { return "?" }
      return ProgramName.of(pid).map { "\(printable($0))(\(pid))" } ?? "\(pid)"
    }
    return [
      quotedIfNeeded(name.name.rawValue), "\(name.generation)", "\(name.state)",
      processes.joined(separator: " "),
    ]
  }

  private func json(for name: NameRecord) -> JSON {
    let programs = name.holders.map { $0.flatMap(ProgramName.of) }
    return .object([
      ("name", .string(name.name.rawValue)),
      ("generation", .number(name.generation)),
      ("state", .string("\(name.state)")),
      ("pids", .array(name.holders.map { $0.map { .number($0) } ?? .null })),
      ("programs", .array(programs.map { $0.map { .string($0) } ?? .null })),
    ])
  }
}
