// Puts triggers on the tables of a database.

internal import DarwinNotifySupport

extension ChangeLog {
  /// Ensures that every table has its triggers, if tables may have been created or dropped. All
  /// rows of a table that had no triggers count as changed.
  func watchTables() throws(WormholeError) {
    let schema = try database.integer("PRAGMA main.schema_version")
    guard schema == nil || schema != database.watchedSchema else { return }
    // Another program may have dropped them.
    if try !check() { try createTables() }
    let tables = try tables()
    let known = try names("SELECT name FROM main.wormhole_tables")
    let unwatched = try dropTriggers(notOf: tables)
    for name in known.subtracting(tables.map { ExactString($0.name) }) {
      try note(name.text)
      try database.run("DELETE FROM main.wormhole_tables WHERE name = ?", .text(name.text))
    }
    for table in unwatched {
      try watch(table, isKnown: known.contains(ExactString(table.name)))
    }
    database.watchedSchema = try database.integer("PRAGMA main.schema_version")
  }

  /// Drops all triggers that are not as they should be: a renamed table still has those of its old
  /// name, which another table may now have. Returns the tables that need new ones.
  private func dropTriggers(notOf tables: [Table]) throws(WormholeError) -> [Table] {
    var found = try triggers()
    var unwatched: [Table] = []
    for table in tables {
      let wanted = triggers(of: table)
      if found.isSuperset(of: wanted) {
        found.subtract(wanted)
      } else {
        unwatched.append(table)
      }
    }
    for sql in found {
      let triggers = try names(
        "SELECT name FROM main.sqlite_master WHERE type = 'trigger' AND sql = ?", .text(sql.text))
      for trigger in triggers {
        try database.execute("DROP TRIGGER main.\(sqlIdentifier(trigger.text))")
      }
    }
    return unwatched
  }

  /// Returns the names of the tables whose changes are recorded.
  func tableNames() throws(WormholeError) -> Set<String> {
    Set(try names("SELECT name FROM main.wormhole_tables").map(\.text))
  }

  /// Returns the names of tables in lower case. Each must be a table that can be watched.
  func find(_ names: [String]) throws(WormholeError) -> Set<String> {
    guard !names.isEmpty else { return [] }
    let known = try tables().map(\.name)
    let lowercased = Set(known.map { $0.lowercased() })
    for name in names where !lowercased.contains(name.lowercased()) {
      throw .unknownTable(name: name, known: known.sorted(), path: database.path)
    }
    return Set(names.map { $0.lowercased() })
  }

  /// The kinds of changes, by their numbers in the file.
  enum RowEvent: Int64, CaseIterable {
    case insert = 1
    case update, delete
  }

  struct Table {
    let name: String

    /// A name for the number of a row; `nil` if rows have none.
    let row: String?
  }

  /// The ordinary tables, without those in which virtual tables keep their data.
  func tables() throws(WormholeError) -> [Table] {
    let found = try database.rows(
      """
      SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
      AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'wormhole_*'
      """
    ) { (row) throws(WormholeError) in (String(field: row.field(0)), row.integer(1) == 0) }
    var tables: [Table] = []
    for case (let name?, let hasRows) in found {
      // A column may have taken one of the names.
      let columns = try names("SELECT lower(name) FROM pragma_table_xinfo(?, 'main')", .text(name))
      let row = ["rowid", "_rowid_", "oid"].first { !columns.contains(ExactString($0)) }
      tables.append(Table(name: name, row: hasRows ? row : nil))
    }
    return tables
  }

  private func watch(_ table: Table, isKnown: Bool) throws(WormholeError) {
    for event in RowEvent.allCases {
      try database.execute("CREATE TRIGGER main.\(trigger(event, table))")
    }
    if isKnown { try note(table.name) }
    let last = try lastID()
    // One more than are kept, so that readers notice that the changes are incomplete.
    try database.execute(
      """
      INSERT INTO main.wormhole_changes(name, row)
      SELECT \(sqlLiteral(table.name)), \(table.row ?? "NULL")
      FROM main.\(sqlIdentifier(table.name))
      LIMIT \(table.row == nil ? 1 : Self.historyLength + 1)
      """)
    if !isKnown, table.row != nil {
      try database.run(
        """
        INSERT OR REPLACE INTO main.wormhole_kinds
        SELECT id, \(RowEvent.insert.rawValue) FROM main.wormhole_changes WHERE id > ?
        """, .integer(last))
    }
    try database.run("INSERT OR IGNORE INTO main.wormhole_tables VALUES(?)", .text(table.name))
  }

  /// Records that a table has changed, without saying where.
  private func note(_ table: String) throws(WormholeError) {
    try database.run("INSERT INTO main.wormhole_changes(name) VALUES(?)", .text(table))
  }

  func names(
    _ sql: String, _ fields: SQLiteField...
  ) throws(WormholeError) -> Set<ExactString> {
    var names: Set<ExactString> = []
    try database.run(sql, fields) { (rows) throws(WormholeError) in
      while try rows.step() {
        if let name = String(field: rows.field(0)) { names.insert(ExactString(name)) }
      }
    }
    return names
  }
}
