// Shows tables: as text, or for programs as JSON.

import Foundation

/// How tables are shown.
enum Output {
  case text

  /// An object a line: what the table says, and the figures of a contest as numbers.
  case json

  private struct Line: Encodable {
    let columns: [String]
    let rows: [[String]]
    let figures: ContestFigures?
  }

  func show(_ table: Table, of figures: ContestFigures? = nil) throws {
    guard case .json = self else { return table.print() }
    let line = Line(columns: table.columns, rows: table.rows, figures: figures)
    print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
    fflush(nil)
  }
}
