// Puts triggers on the tables of a database.

extension ChangeLog {
  /// Sees to it that every table has its triggers, if tables may have come or gone. The rows of a
  /// table that had none count as changed.
  func watchTables() throws(WormholeError) {
    let schema = try database.integer("PRAGMA schema_version")
    guard schema == nil || schema != database.watchedSchema else { return }
    let tables = try tables()
    let known = try names("SELECT name FROM wormhole_tables")
    let triggers = try names(
      "SELECT name || char(10) || tbl_name FROM sqlite_master"
        + " WHERE type = 'trigger' AND name GLOB 'wormhole_*'")
    for name in known.subtracting(tables.map(\.name)) {
      try note(name)
      try database.run("DELETE FROM wormhole_tables WHERE name = ?", .text(name))
    }
    for table in tables {
      let isWatched = Event.allCases.allSatisfy {
        triggers.contains("\(table.triggerName($0))\n\(table.name)")
      }
      if !isWatched { try watch(table, isKnown: known.contains(table.name)) }
    }
    database.watchedSchema = try database.integer("PRAGMA schema_version")
  }

  /// Returns the names of the tables that changes are recorded of.
  func tableNames() throws(WormholeError) -> Set<String> {
    try names("SELECT name FROM wormhole_tables")
  }

  private enum Event: String, CaseIterable {
    case insert, update, delete
  }

  private struct Table {
    let name: String

    /// What the number of a row can be called; `nil` if rows have none.
    let row: String?

    func triggerName(_ event: Event) -> String { "wormhole_\(event)_\(name)" }
  }

  /// The ordinary tables. What virtual tables keep in tables of their own does not count.
  private func tables() throws(WormholeError) -> [Table] {
    let found = try database.rows(
      """
      SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
      AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'wormhole_*'
      """
    ) { (row) throws(WormholeError) in (String(field: row.field(0)), row.integer(1) == 0) }
    var tables: [Table] = []
    for case (let name?, let hasRows) in found {
      // A column may have taken one of the names.
      let columns = try names("SELECT lower(name) FROM pragma_table_xinfo(?)", .text(name))
      let row = ["rowid", "_rowid_", "oid"].first { !columns.contains($0) }
      tables.append(Table(name: name, row: hasRows ? row : nil))
    }
    return tables
  }

  private func watch(_ table: Table, isKnown: Bool) throws(WormholeError) {
    let leftOvers = try names(
      """
      SELECT name FROM sqlite_master
      WHERE type = 'trigger' AND tbl_name = ? AND name GLOB 'wormhole_*'
      """, .text(table.name))
    for trigger in leftOvers { try database.execute("DROP TRIGGER \(identifier(trigger))") }
    for event in Event.allCases {
      try database.execute(
        """
        CREATE TRIGGER \(identifier(table.triggerName(event)))
        AFTER \(event.rawValue) ON \(identifier(table.name)) BEGIN \(notes(event, table)) END
        """)
    }
    if isKnown { try note(table.name) }
    // One more than are kept: readers shall see that they do not see all.
    try database.execute(
      """
      INSERT INTO wormhole_changes(name, row)
      SELECT \(literal(table.name)), \(table.row ?? "NULL") FROM \(identifier(table.name))
      LIMIT \(table.row == nil ? 1 : Self.historyLength + 1)
      """)
    try database.run("INSERT OR IGNORE INTO wormhole_tables VALUES(?)", .text(table.name))
  }

  /// What a trigger does.
  private func notes(_ event: Event, _ table: Table) -> String {
    let insert = "INSERT INTO wormhole_changes(name, row)"
    let name = literal(table.name)
    guard let row = table.row else { return "\(insert) VALUES(\(name), NULL);" }
    return switch event {
    case .insert: "\(insert) VALUES(\(name), NEW.\(row));"
    case .delete: "\(insert) VALUES(\(name), OLD.\(row));"
    case .update:
      """
      \(insert) VALUES(\(name), OLD.\(row));
      \(insert) SELECT \(name), NEW.\(row) WHERE NEW.\(row) IS NOT OLD.\(row);
      """
    }
  }

  /// Records that a table has changed, nobody knows where.
  private func note(_ table: String) throws(WormholeError) {
    try database.run("INSERT INTO wormhole_changes(name) VALUES(?)", .text(table))
  }

  private func names(
    _ sql: String, _ fields: SQLiteField...
  ) throws(WormholeError) -> Set<String> {
    var names: Set<String> = []
    try database.run(sql, fields) { row in
      if let name = String(field: row.field(0)) { names.insert(name) }
    }
    return names
  }

  private func identifier(_ name: String) -> String {
    "\"\(name.replacing("\"", with: "\"\""))\""
  }

  private func literal(_ text: String) -> String {
    "'\(text.replacing("'", with: "''"))'"
  }
}
