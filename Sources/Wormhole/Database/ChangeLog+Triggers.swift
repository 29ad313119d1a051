// Writes the triggers that record changes.

internal import DarwinNotifySupport

extension ChangeLog {
  /// The statements of the triggers of this library in the database.
  func triggers() throws(WormholeError) -> Set<ExactString> {
    try names(
      "SELECT sql FROM main.sqlite_master WHERE type = 'trigger' AND name GLOB 'wormhole_*'")
  }

  /// The statements of the triggers of a table.
  func triggers(of table: Table, haveKinds: Bool) -> [ExactString] {
    RowEvent.allCases.map {
      ExactString("CREATE TRIGGER \(trigger($0, table, hasKind: haveKinds))")
    }
  }

  /// Replaces the triggers of an earlier version of this library. They have recorded all changes,
  /// so there is none to add.
  func addKinds() throws(WormholeError) {
    guard try !tablesWithoutKinds().isEmpty else { return }
    try database.transaction(.immediate) { () throws(WormholeError) in
      for table in try tablesWithoutKinds() {
        for event in RowEvent.allCases {
          try database.execute("DROP TRIGGER main.\(name(of: event, table))")
          try database.execute("CREATE TRIGGER main.\(trigger(event, table))")
        }
      }
    }.get()
  }

  private func tablesWithoutKinds() throws(WormholeError) -> [Table] {
    let found = try triggers()
    return try tables().filter {
      $0.row != nil && found.isSuperset(of: triggers(of: $0, haveKinds: false))
    }
  }

  /// The text after `CREATE TRIGGER`, which SQLite stores unchanged.
  func trigger(_ event: RowEvent, _ table: Table, hasKind: Bool = true) -> String {
    """
    \(name(of: event, table))
    AFTER \(event) ON \(sqlIdentifier(table.name)) BEGIN \(notes(event, table, hasKind)) END
    """
  }

  private func name(of event: RowEvent, _ table: Table) -> String {
    sqlIdentifier("wormhole_\(event)_\(table.name)")
  }

  /// The body of a trigger.
  private func notes(_ event: RowEvent, _ table: Table, _ hasKind: Bool) -> String {
    let name = sqlLiteral(table.name)
    guard let row = table.row else {
      return "INSERT INTO wormhole_changes(name, row) VALUES(\(name), NULL);"
    }
    func note(_ side: String, _ kind: String, where condition: String? = nil) -> [String] {
      let values = "\(name), \(side).\(row)"
      let source = condition.map { " SELECT \(values) WHERE \($0);" } ?? " VALUES(\(values));"
      let change = "INSERT INTO wormhole_changes(name, row)" + source
      guard hasKind else { return [change] }
      let filter = condition.map { " WHERE \($0)" } ?? ""
      let insert = "INSERT OR REPLACE INTO wormhole_kinds"
      return [change, "\(insert) SELECT last_insert_rowid(), \(kind)\(filter);"]
    }
    let (insert, update, delete) = (RowEvent.insert, RowEvent.update, RowEvent.delete)
    let hasMoved = "NEW.\(row) IS NOT OLD.\(row)"
    let notes =
      switch event {
      case .insert: note("NEW", "\(insert.rawValue)")
      case .delete: note("OLD", "\(delete.rawValue)")
      case .update:
        note("OLD", "CASE WHEN \(hasMoved) THEN \(delete.rawValue) ELSE \(update.rawValue) END")
          + note("NEW", "\(insert.rawValue)", where: hasMoved)
      }
    return notes.joined(separator: "\n")
  }
}
