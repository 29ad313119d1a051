// Prints tables.

import Foundation

/// Rows of text. The first column stands left, the others right.
struct Table {
  private var rows: [[String]]

  init(columns: [String]) {
    rows = [columns]
  }

  mutating func add(_ row: [String]) {
    rows.append(row)
  }

  func print() {
    let widths = rows[0].indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    for row in rows {
      let cells = row.indices.map { column in
        let blanks = String(repeating: " ", count: widths[column] - row[column].count)
        return column == 0 ? row[column] + blanks : blanks + row[column]
      }
      Swift.print(cells.joined(separator: "  "))
    }
    Swift.print("")
    fflush(nil)
  }

  static func number(_ number: Double, digits: Int) -> String {
    String(format: "%.\(digits)f", number)
  }
}
