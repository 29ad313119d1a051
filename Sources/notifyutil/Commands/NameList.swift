// Prints the names in use.

import DarwinNotify
import Glibc

struct NameList {
  let prefix: String
  let isJSON: Bool
  let bus: BusChoice

  /// Prints the names, in byte order.
  func print() throws {
    let table = try TableView(prefix: prefix)
    let names = table.names.sorted {
      $0.name.rawValue.utf8.lexicographicallyPrecedes($1.name.rawValue.utf8)
    }
    if isJSON { return Output.print(JSON.array(names.map(json)).text) }
    if names.isEmpty {
      let which = prefix.isEmpty ? "a name" : "a name that begins with \(quotedIfNeeded(prefix))"
      Output.complain(
        "notifyutil: --list: no process of this user has registered \(which) on this bus")
    } else {
      let head = ["NAME", "GENERATION", "STATE", "PROCESSES"]
      aligned([head] + names.map(row)).forEach(Output.print)
    }
    Output.complain("notifyutil: --list: \(table.summary(bus))")
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

enum ProgramName {
  /// The file name of its executable; if that is not readable, the name the process gives itself;
  /// `nil` if the process has ended.
  static func of(_ pid: Int32) -> String? {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(pid)/exe", &path, path.count)
    guard count > 0 else { return command(of: pid) }
    let text = String(decoding: path[..<count], as: UTF8.self)
    return text.split(separator: "/").last.map(String.init)
  }

  private static func command(of pid: Int32) -> String? {
    let descriptor = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 1 else { return nil }
    return String(decoding: bytes[..<(count - 1)], as: UTF8.self)
  }
}
