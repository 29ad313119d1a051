// Collects the rows that a transaction may have changed.

internal import CSQLite
internal import Glibc

/// The changed rows of a connection, which SQLite reports one by one before it changes them.
///
/// It also reports rows changed by triggers, foreign keys and replacements, and keeps those that a
/// savepoint restores. It does not report rows of virtual tables.
struct RowRecorder {
  /// The number of rows of a table above which they are not listed.
  static let maxRowCount = 256

  private struct Table {
    let name: [CChar]
    var rows: Set<Int64>? = []
  }

  private var tables: [Table] = []

  /// The table of the last row.
  private var last = 0

  /// Forgets all rows.
  mutating func reset() {
    tables = []
  }

  /// Whether no row was reported.
  var isEmpty: Bool { tables.isEmpty }

  /// The rows of each changed table; `nil` if there are too many.
  var changes: [String: Set<Int64>?] {
    var changes: [String: Set<Int64>?] = [:]
    for table in tables {
      changes[
        String(decoding: table.name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)] =
        .some(table.rows)
    }
    return changes
  }

  fileprivate mutating func add(_ name: UnsafePointer<CChar>, _ before: Int64, _ after: Int64) {
    if last >= tables.count || strcmp(tables[last].name, name) != 0 { find(name) }
    guard tables[last].rows != nil else { return }
    tables[last].rows?.insert(before)
    tables[last].rows?.insert(after)
    if (tables[last].rows?.count ?? 0) > Self.maxRowCount { tables[last].rows = nil }
  }

  private mutating func find(_ name: UnsafePointer<CChar>) {
    last = tables.firstIndex { strcmp($0.name, name) == 0 } ?? tables.count
    guard last == tables.count else { return }
    tables.append(
      Table(name: Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))))
  }

  /// Collects the changed rows of a connection. The pointer must stay valid until the connection is
  /// closed. Returns false if SQLite was built without the function for that.
  static func install(
    _ recorder: UnsafeMutablePointer<RowRecorder>, in connection: OpaquePointer
  ) -> Bool {
    sqlite_shim_hook_rows(
      connection,
      { recorder, _, operation, schema, table, before, after in
        guard let recorder, let schema, let table, strcmp(schema, "main") == 0,
          strncmp(table, OwnTable.prefix, OwnTable.prefix.utf8.count) != 0
        else { return }
        // An inserted row has no id before, and a deleted one none after.
        recorder.assumingMemoryBound(to: RowRecorder.self).pointee.add(
          table, operation == SQLITE_INSERT ? after : before,
          operation == SQLITE_DELETE ? before : after)
      }, recorder)
  }
}
