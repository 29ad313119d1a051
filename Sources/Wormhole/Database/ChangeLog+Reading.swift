// Reads the changes of a database.

internal import FoundationEssentials

extension ChangeLog {
  /// Returns the next commit after a token that changed one of these tables, whose names are in
  /// lower case; the empty set stands for all. The token moves to the end of the search.
  func change(
    after token: inout Int64, in tables: Set<String>
  ) throws(WormholeError) -> SharedDatabase.Change? {
    let newest = try lastID()
    // A file that was created anew has lower numbers.
    guard token <= newest, try token >= firstID() - 1 else {
      token = newest
      let names = try tableNames().filter { tables.isEmpty || tables.contains($0.lowercased()) }
      return SharedDatabase.Change(
        tables: names, rowIDs: [:], token: newest, sender: nil, date: nil, isComplete: false)
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
          tables: Set(rows.keys), rowIDs: rows.filter { !$0.value.isEmpty }, token: end,
          sender: isSigned ? commit?.sender : nil, date: isSigned ? commit?.date : nil,
          isComplete: true)
      }
    }
    return nil
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
  ) throws(WormholeError) -> [String: Set<Int64>] {
    var rows: [String: Set<Int64>] = [:]
    try database.run(
      "SELECT name, row FROM wormhole_changes WHERE id > ? AND id <= ?",
      [.integer(token), .integer(end)]
    ) { (changes) throws(WormholeError) in
      while try changes.step() {
        guard let name = String(field: changes.field(0)),
          tables.isEmpty || tables.contains(name.lowercased())
        else { continue }
        if let number = changes.integer(1) {
          rows[name, default: []].insert(number)
        } else {
          rows[name, default: []].formUnion([])
        }
      }
    }
    return rows
  }
}
