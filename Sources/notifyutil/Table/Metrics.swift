// Prints the table as metrics.

import DarwinNotify

/// The table in the text format of OpenMetrics 1.0.
struct Metrics {
  private let table: TableView

  init(prefix: String) throws {
    table = try TableView(prefix: prefix)
  }

  var text: String {
    (families.flatMap(\.lines) + ["# EOF"]).joined(separator: "\n")
  }

  private var families: [Family] {
    let names = table.names.sorted {
      $0.name.rawValue.utf8.lexicographicallyPrecedes($1.name.rawValue.utf8)
    }
    return perName(names) + perProcess + wholeTable
  }

  private func perName(_ names: [NameRecord]) -> [Family] {
    func samples(_ value: (NameRecord) -> UInt64) -> [Sample] {
      names.map { Sample(labels: [("name", $0.name.rawValue)], value: value($0)) }
    }
    return [
      Family(
        "darwin_notify_posts", .counter, "Posts since the name came into the table.",
        samples(\.posts)),
      Family(
        "darwin_notify_state", .gauge, "The 64-bit state of the name.", samples(\.state)),
      Family(
        "darwin_notify_holders", .gauge, "Processes that have registered the name.",
        samples { UInt64($0.holders.count) }),
    ]
  }

  private var perProcess: [Family] {
    let processes = table.processes.sorted { $0.key < $1.key }.map { identifier, counts in
      let program = ProgramName.of(identifier) ?? ""
      return (labels: [("pid", "\(identifier)"), ("program", program)], identifier, counts)
    }
    return [
      Family(
        "darwin_notify_process_names", .gauge, "Names that the process has registered.",
        processes.map { Sample(labels: $0.labels, value: $0.2.names) }),
      Family(
        "darwin_notify_process_unread", .gauge,
        "Names with posts that the process has not looked at.",
        processes.map { Sample(labels: $0.labels, value: $0.2.unread) }),
      Family(
        "darwin_notify_process_stopped", .gauge,
        "Whether a signal or a debugger has stopped the process.",
        processes.map {
          Sample(labels: $0.labels, value: ProcessFiles(identifier: $0.1).isStopped ? 1 : 0)
        }),
    ]
  }

  private var wholeTable: [Family] {
    guard let content = table.content else { return [] }
    func family(_ name: String, _ help: String, _ value: UInt64) -> Family {
      Family("darwin_notify_table_\(name)", .gauge, help, [Sample(labels: [], value: value)])
    }
    return [
      family("slots", "Slots for names.", content.slots),
      family("slots_used", "Slots whose names are registered.", UInt64(content.names.count)),
      family("entries", "Entries for processes.", content.entries),
      family("entries_used", "Entries of living processes.", content.usedEntries),
    ]
  }

  private struct Sample {
    let labels: [(String, String)]
    let value: UInt64
  }

  /// One metric. A family without samples is printed too: it is known, and empty.
  private struct Family {
    enum Kind: String { case counter, gauge }
    let name: String
    let kind: Kind
    let help: String
    let samples: [Sample]

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
      (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
    }

    var lines: [String] {
      let suffix = kind == .counter ? "_total" : ""
      return ["# TYPE \(name) \(kind.rawValue)", "# HELP \(name) \(help)"]
        + samples.map { sample in
          let labels = sample.labels.map { "\($0)=\"\(Self.escaped($1))\"" }
          let list = labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}"
          return "\(name)\(suffix)\(list) \(sample.value)"
        }
    }

    /// The format knows three escapes.
    private static func escaped(_ text: String) -> String {
      text.replacing("\\", with: #"\\"#).replacing("\"", with: #"\""#)
        .replacing("\n", with: #"\n"#)
    }
  }
}
