// Reads the changes of a database.

internal import FoundationEssentials

extension ChangeLog {
  /// Returns the next commit after a token that changed one of these tables, whose names are in
  /// lower case; the empty set stands for all. The token moves to the end of the search.
  func change(
    after token: inout Int64, in tables: Set<String>
  ) throws(WormholeError) -> SharedDatabase.Change? {
    let newest = try lastID()
    // A new file has lower numbers.
    guard token <= newest, try token >= firstID() else {
      token = newest
      let names = try tableNames().filter { tables.isEmpty || tables.contains($0.lowercased()) }
      return SharedDatabase.Change(
        tables: names, rowIDs: [:], kinds: [:], token: newest, sender: nil, date: nil,
        isComplete: false)
    }
    while token < newest {
      let commit = try commit(after: token)
      let isSigned = commit.map { $0.first <= token + 1 } ?? false
      let last = isSigned ? commit?.last : commit.map { $0.first - 1 }
      let end = min(max(last ?? newest, token + 1), newest)
      let rows = try rows(after: token, to: end, in: tables)
      token = end
      guard rows.isEmpty else {
        return SharedDatabase.Change(
          tables: Set(rows.keys),
          rowIDs: rows.filter { !$0.value.isEmpty }.mapValues { Set($0.keys) },
          kinds: rows.mapValues { $0.compactMapValues(\.kind) }.filter { !$0.value.isEmpty },
          token: end, sender: isSigned ? commit?.sender : nil, date: isSigned ? commit?.date : nil,
          isComplete: true)
      }
    }
    return nil
  }

  /// Returns whether one of these tables may have changed after a token. The names are in lower
  /// case; the empty set stands for all.
  func hasChanged(after token: Int64, in tables: Set<String>) throws(WormholeError) -> Bool {
    let newest = try lastID()
    guard token != newest else { return false }
    guard token < newest, try token >= firstID(), !tables.isEmpty else { return true }
    let changed = try names("SELECT DISTINCT name FROM wormhole_changes WHERE id > \(token)")
    return changed.contains { tables.contains($0.text.lowercased()) }
  }

  private struct Commit {
    let first: Int64
    let last: Int64
    let sender: Wormhole.Sender?
    let date: Date?
  }

  private func commit(after token: Int64) throws(WormholeError) -> Commit? {
    try database.rows(
      """
      SELECT first, last, time, pid, uid, process FROM wormhole_commits
      WHERE last > ? ORDER BY last LIMIT 1
      """, .integer(token)
    ) { (row) throws(WormholeError) in
      // Another program may have written the row.
      Commit(
        first: row.integer(0) ?? 0, last: row.integer(1) ?? 0, sender: row.sender(from: 3),
        date: row.integer(2).map { Date(nanoseconds: $0) })
    }.first
  }

  private func rows(
    after token: Int64, to end: Int64, in tables: Set<String>
  ) throws(WormholeError) -> [String: [Int64: Fate]] {
    var rows: [String: [Int64: Fate]] = [:]
    try database.run(
      """
      SELECT name, row, kind FROM wormhole_changes LEFT JOIN wormhole_kinds USING(id)
      WHERE id > ? AND id <= ? ORDER BY id
      """, [.integer(token), .integer(end)]
    ) { (changes) throws(WormholeError) in
      while try changes.step() {
        guard let name = String(field: changes.field(0)),
          tables.isEmpty || tables.contains(name.lowercased())
        else { continue }
        if let number = changes.integer(1) {
          let kind = changes.integer(2).flatMap(RowEvent.init(rawValue:))
          rows[name, default: [:]][number, default: Fate()].add(kind)
        } else {
          rows[name, default: [:]].merge([:]) { fate, _ in fate }
        }
      }
    }
    return rows
  }
}

/// The effect of all changes of a commit on a row.
private struct Fate {
  private var first: ChangeLog.RowEvent?
  private var last: ChangeLog.RowEvent?
  private var isKnown = true

  /// Adds a change; `nil` is one whose kind is not known.
  mutating func add(_ event: ChangeLog.RowEvent?) {
    guard let event else { return isKnown = false }
    first = first ?? event
    last = event
  }

  /// The kind of all changes together; `nil` if it is not known, or if the row was inserted and
  /// deleted again.
  var kind: SharedDatabase.Change.Kind? {
    guard isKnown else { return nil }
    return switch (first == .insert, last == .delete) {
    case (true, true): nil
    case (true, false): .inserted
    case (false, true): .deleted
    case (false, false): .updated
    }
  }
}
