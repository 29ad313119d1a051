// Formats values for people.

/// A number with leading zeros.
func padded(_ value: some BinaryInteger, to width: Int, radix: Int = 10) -> String {
  let digits = String(value, radix: radix)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// A number of things.
func counted(_ number: some BinaryInteger, _ singular: String, _ plural: String) -> String {
  "\(number) \(number == 1 ? singular : plural)"
}

/// A region in the usual notation.
func hexadecimal(_ region: UInt64) -> String {
  "0x" + padded(region, to: 16, radix: 16)
}

/// Escapes what would move the cursor of a terminal, forge a line, change the direction of text or
/// be invisible. Different texts stay different.
func printable(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      result += "\\u{" + String(scalar.value, radix: 16) + "}"
    case _ where scalar == "\\": result += "\\\\"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// JSON of strangers, in which the same characters are escaped: it stays JSON.
func printableJSON(_ json: String) -> String {
  var result = ""
  for scalar in json.unicodeScalars {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      for unit in String(scalar).utf16 { result += "\\u" + padded(unit, to: 4, radix: 16) }
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// A name within other text: quoted if it is empty or contains blanks or quotes, which are then
/// escaped by a backslash.
func quotedIfNeeded(_ name: String) -> String {
  let text = printable(name)
  let needsQuotes = text.isEmpty || text.contains { $0.isWhitespace || $0 == "\"" }
  guard needsQuotes else { return text }
  return "\"" + text.replacing("\"", with: "\\\"") + "\""
}

/// The rows of a table as lines. Each column but the last is as wide as its widest entry.
func aligned(_ rows: [[String]]) -> [String] {
  var widths: [Int] = []
  for row in rows {
    for (column, entry) in row.enumerated() {
      if column == widths.count { widths.append(0) }
      widths[column] = max(widths[column], entry.count)
    }
  }
  return rows.map { row in
    row.dropLast().enumerated().map { column, entry in
      entry + String(repeating: " ", count: widths[column] - entry.count + 2)
    }.joined() + (row.last ?? "")
  }
}
