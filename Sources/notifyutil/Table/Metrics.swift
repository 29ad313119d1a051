// Prints the table as metrics.

import DarwinNotify
import DarwinNotifySupport

/// The table in the text format of OpenMetrics 1.0.
struct Metrics {
  private let table: TableView

  init(prefix: String) throws {
    table = try TableView(prefix: prefix)
  }

  var text: String { MetricFamily.text(of: families) }

  private var families: [MetricFamily] {
    let names = table.names.sorted {
      $0.name.rawValue.utf8.lexicographicallyPrecedes($1.name.rawValue.utf8)
    }
    return perName(names) + perProcess + wholeTable
  }

  private func perName(_ names: [NameRecord]) -> [MetricFamily] {
    func samples(_ value: (NameRecord) -> UInt64) -> [MetricFamily.Sample] {
      names.map { MetricFamily.Sample([("name", $0.name.rawValue)], value($0)) }
    }
    return [
      MetricFamily(
        "darwin_notify_posts", .counter, "Posts since the name came into the table.",
        samples(\.posts)),
      MetricFamily(
        "darwin_notify_state", .gauge, "The 64-bit state of the name.", samples(\.state)),
      MetricFamily(
        "darwin_notify_holders", .gauge, "Processes that have registered the name.",
        samples { UInt64($0.holders.count) }),
    ]
  }

  private var perProcess: [MetricFamily] {
    let processes = table.processes.sorted { $0.key < $1.key }.map { identifier, counts in
      let program = ProgramName.of(identifier) ?? ""
      return (labels: [("pid", "\(identifier)"), ("program", program)], identifier, counts)
    }
    return [
      MetricFamily(
        "darwin_notify_process_names", .gauge, "Names that the process has registered.",
        processes.map { MetricFamily.Sample($0.labels, $0.2.names) }),
      MetricFamily(
        "darwin_notify_process_unread", .gauge,
        "Names with posts that the process has not looked at.",
        processes.map { MetricFamily.Sample($0.labels, $0.2.unread) }),
      MetricFamily(
        "darwin_notify_process_stopped", .gauge,
        "Whether a signal or a debugger has stopped the process.",
        processes.map {
          MetricFamily.Sample($0.labels, ProcessFiles(identifier: $0.1).isStopped ? 1 : 0)
        }),
    ]
  }

  private var wholeTable: [MetricFamily] {
    guard let content = table.content else { return [] }
    func family(_ name: String, _ help: String, _ value: UInt64) -> MetricFamily {
      MetricFamily("darwin_notify_table_\(name)", .gauge, help, [MetricFamily.Sample([], value)])
    }
    return [
      family("slots", "Slots for names.", content.slots),
      family("slots_used", "Slots whose names are registered.", UInt64(content.names.count)),
      family("entries", "Entries for processes.", content.entries),
      family("entries_used", "Entries of living processes.", content.usedEntries),
    ]
  }
}
