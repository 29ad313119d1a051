// Rebuilds the change log of a database.

internal import DarwinNotify
internal import Glibc

extension ChangeLog {
  /// Rebuilds the log, with triggers on all tables.
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

  /// The objects with a name of the log, and the triggers on its tables; tables come last.
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

extension AppGroup {
  /// Rebuilds the change log of a database, even if it is damaged or another program has written
  /// to it. The tables of the database stay as they are.
  ///
  /// Observers receive an incomplete change and must reread everything.
  ///
  /// - Parameter name: the name of the database; one without a file is no error.
  /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/reservedName``,
  ///   ``WormholeError/busy``, ``WormholeError/foreign`` if the file is no database,
  ///   ``WormholeError/damaged`` if more than the change log is damaged, other
  ///   ``WormholeError``.
  public func resetChanges(ofDatabase name: String) throws(WormholeError) {
    let file = try databaseFile(name)
    guard access(file.path, F_OK) == 0 || errno != ENOENT else { return }
    try ChangeLog(in: try file.openForWriting()).reset()
    try center.notify(changeName("database", name))
  }

  /// Returns the file of a database.
  func databaseFile(_ name: String) throws(WormholeError) -> SQLiteFile {
    guard !name.isEmpty else { throw .invalidIdentifier }
    let fileName = FileName(for: name).text
    let isTaken =
      fileName == AppGroup.defaultsStore
      || ["-wal", "-shm", "-journal"].contains { fileName.hasSuffix($0) }
    guard !isTaken else { throw .reservedName(name) }
    return SQLiteFile(directory: container.path, name: fileName)
  }
}
