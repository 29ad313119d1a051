// Makes the change log of a database anew.

extension ChangeLog {
  /// Makes the log anew, with triggers on all tables.
  func reset() throws(WormholeError) {
    do throws(WormholeError) {
      try reset { (type, name) throws(WormholeError) in
        try database.execute("DROP \(type) main.\(sqlIdentifier(name))")
      }
    } catch .damaged {
      // What a damaged table has of the file is lost, but its name becomes free.
      try reset { (_, name) throws(WormholeError) in
        try database.execute("PRAGMA writable_schema = ON")
        try database.run(
          "DELETE FROM main.sqlite_master WHERE name = ?1 OR tbl_name = ?1", .text(name))
      }
    }
  }

  private func reset(
    drop: (_ type: String, _ name: String) throws(WormholeError) -> Void
  ) throws(WormholeError) {
    defer { try? database.executeInAnyCase("PRAGMA writable_schema = RESET") }
    try database.transaction(.immediate) { () throws(WormholeError) in
      for (type, name) in try remains() { try drop(type, name) }
      try database.execute("PRAGMA writable_schema = RESET")
      try createTables()
      try watchTables()
    }.get()
  }

  /// What has a name of the log, or reacts to its tables; those come last.
  private func remains() throws(WormholeError) -> [(type: String, name: String)] {
    let found = try database.rows(
      """
      SELECT type, name FROM main.sqlite_master
      WHERE type <> 'index' AND (name LIKE 'wormhole\\_%' ESCAPE '\\'
      OR lower(tbl_name) IN (\(Self.tableList), '\(MigrationNames.table)'))
      AND NOT (type = 'table' AND name = '\(MigrationNames.table)')
      ORDER BY type = 'table'
      """
    ) { row in (String(field: row.field(0)), String(field: row.field(1))) }
    return found.compactMap { type, name in
      if let type, let name { (type, name) } else { nil }
    }
  }
}
