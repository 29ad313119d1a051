// Draws one frame of the live view.

import DarwinNotify

/// What is shown in each refresh.
struct TopFrame {
  enum Order: Character, CaseIterable {
    case rate = "r"
    case total = "t"
    case processes = "p"
    case name = "n"
  }

  struct Row {
    let name: String
    let rate: Double
    let total: UInt64
    let state: UInt64
    let holders: Int
  }

  struct Process {
    let identifier: Int32
    let program: String
    let names: UInt64
    let unread: UInt64
    let isStopped: Bool
  }

  var title = ""
  var rows: [Row] = []
  /// Those that are late or stopped.
  var processes: [Process] = []
  var order = Order.rate

  static let help = "sort by: r rate  t total  p processes  n name    q quit"

  /// The lines for a screen. What does not fit is left out, and counted.
  func lines(columns: Int, height: Int) -> [String] {
    var bottom: [String] = []
    if !processes.isEmpty {
      let room = max(1, min(processes.count, height / 3))
      bottom = ["", "    PID  NAMES  UNREAD  STATE    PROGRAM"] + processes.prefix(room).map(line)
    }
    // The title, the help, the heading, and the line that counts the rest.
    let room = max(1, height - bottom.count - 4)
    var lines = [title, Self.help, "  RATE/s       TOTAL       STATE  PROC  NAME"]
    lines += sorted.prefix(room).map(line)
    if rows.count > room { lines.append("… and \(rows.count - room) more names") }
    return (lines + bottom).map { Self.cut($0, to: columns) }
  }

  private var sorted: [Row] {
    func byName(_ left: Row, _ right: Row) -> Bool {
      left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }
    return rows.sorted { left, right in
      switch order {
      case .rate where left.rate != right.rate: left.rate > right.rate
      case .total where left.total != right.total, .rate where left.total != right.total:
        left.total > right.total
      case .processes where left.holders != right.holders: left.holders > right.holders
      default: byName(left, right)
      }
    }
  }

  private func line(for row: Row) -> String {
    let tenths = UInt64((row.rate * 10).rounded())
    return Self.right("\(tenths / 10).\(tenths % 10)", 8) + Self.right("\(row.total)", 12)
      + Self.right("\(row.state)", 12) + Self.right("\(row.holders)", 6)
      + "  " + quotedIfNeeded(row.name)
  }

  private func line(for process: Process) -> String {
    Self.right("\(process.identifier)", 7) + Self.right("\(process.names)", 7)
      + Self.right("\(process.unread)", 8) + (process.isStopped ? "  stopped  " : "           ")
      + printable(process.program)
  }

  private static func right(_ text: String, _ width: Int) -> String {
    let missing = width - text.utf8.count
    return missing > 0 ? String(repeating: " ", count: missing) + text : " " + text
  }

  private static func cut(_ line: String, to columns: Int) -> String {
    guard line.utf8.count > columns, line.count > columns else { return line }
    return line.prefix(columns - 1) + "…"
  }
}
