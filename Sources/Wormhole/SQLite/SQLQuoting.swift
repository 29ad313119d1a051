// Quotes names and texts in statements.

/// Returns the name of a table or the like as it stands in a statement.
func sqlIdentifier(_ name: String) -> String { quoted(name, with: "\"") }

/// Returns a text as it stands in a statement.
func sqlLiteral(_ text: String) -> String { quoted(text, with: "'") }

/// A quote and a combining accent are one character in Swift, but SQLite still sees the quote.
private func quoted(_ text: String, with quote: Unicode.Scalar) -> String {
  var quoted = String.UnicodeScalarView([quote])
  for scalar in text.unicodeScalars {
    if scalar == quote { quoted.append(quote) }
    quoted.append(scalar)
  }
  quoted.append(quote)
  return String(quoted)
}
