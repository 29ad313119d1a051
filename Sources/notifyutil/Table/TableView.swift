// Reads the table of the bus for display.

import DarwinNotify
import Glibc

/// The names and processes of the table, at one moment.
struct TableView {
  /// `nil` if there is no table yet.
  let path: String?
  let names: [NameRecord]
  let content: TableSnapshot?

  /// Reads the names that begin with a prefix.
  ///
  /// - Throws: ``DarwinNotifyError`` if the table cannot be found.
  init(prefix: String) throws {
    guard case (let path, let descriptor)? = try TableSnapshot.find() else {
      (path, names, content) = (nil, [], nil)
      return
    }
    defer { close(descriptor) }
    let content = try? TableSnapshot(descriptor: descriptor)
    self.path = path
    self.content = content
    names = (content?.names ?? []).filter { $0.name.rawValue.utf8.starts(with: prefix.utf8) }
  }

  /// What is in use, the bus, and the file of the table.
  func summary(_ bus: BusChoice) -> String {
    let address = bus.addresses.first.map(printable) ?? "no bus"
    guard let path, let content else { return "no table; \(address)" }
    return "\(content.names.count) of \(content.slots) slots and \(content.usedEntries) of "
      + "\(content.entries) processes in use; \(address); \(printable(path))"
  }

  /// The processes, each once.
  var processes: [Int32: (names: UInt64, unread: UInt64)] {
    var found: [Int32: (names: UInt64, unread: UInt64)] = [:]
    for process in content?.processes ?? [] {
      guard let identifier = process.identifier else { continue }
      let known = found[identifier, default: (0, 0)]
      found[identifier] = (known.names + process.names, known.unread + process.unread)
    }
    return found
  }
}
