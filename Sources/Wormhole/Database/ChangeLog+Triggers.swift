// Writes the triggers that record changes.

internal import DarwinNotifySupport

extension ChangeLog {
  /// The statements of the triggers of this library in the database.
  func triggers() throws(WormholeError) -> Set<ExactString> {
    try names(
      "SELECT sql FROM main.sqlite_master WHERE type = 'trigger' AND name GLOB 'wormhole_*'")
  }

  /// The statements of the triggers of a table.
  func triggers(of table: Table) -> [ExactString] {
    RowEvent.allCases.map { ExactString("CREATE TRIGGER \(trigger($0, table))") }
  }

  /// The text after `CREATE TRIGGER`, which SQLite stores unchanged.
  func trigger(_ event: RowEvent, _ table: Table) -> String {
    """
    \(sqlIdentifier("wormhole_\(event)_\(table.name)"))
    AFTER \(event) ON \(sqlIdentifier(table.name)) BEGIN \(notes(event, table)) END
    """
  }

  /// The body of a trigger.
  private func notes(_ event: RowEvent, _ table: Table) -> String {
    let name = sqlLiteral(table.name)
    guard let row = table.row else {
      return "INSERT INTO wormhole_changes(name, row) VALUES(\(name), NULL);"
    }
    func note(_ side: String, _ kind: String, where condition: String? = nil) -> [String] {
      let values = "\(name), \(side).\(row)"
      let source = condition.map { " SELECT \(values) WHERE \($0);" } ?? " VALUES(\(values));"
      let change = "INSERT INTO wormhole_changes(name, row)" + source
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
