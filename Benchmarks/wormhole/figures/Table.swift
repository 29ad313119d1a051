// Prints tables.

import Foundation

/// Rows of text. The first column stands left, the others right.
struct Table {
  let columns: [String]
  private(set) var rows: [[String]] = []

  init(columns: [String]) {
    self.columns = columns
  }

  mutating func add(_ row: [String]) {
    rows.append(row)
  }

  func print() {
    let lines = [columns] + rows
    let widths = columns.indices.map { column in
      lines.map { $0[column].count }.max() ?? 0
    }
    for row in lines {
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
