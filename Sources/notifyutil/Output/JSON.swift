// Writes JSON.

/// A JSON value.
enum JSON {
  case null
  case string(String)
  case number(String)
  /// What is JSON already.
  case raw(String)
  case array([JSON])
  case object([(String, JSON)])

  static func number(_ value: some BinaryInteger) -> JSON {
    .number(String(value))
  }

  /// The value on one line.
  var text: String {
    switch self {
    case .null: "null"
    case .string(let text): Self.quote(text)
    case .number(let digits): digits
    case .raw(let text): text
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quote($0) + ":" + $1.text }.joined(separator: ",") + "}"
    }
  }

  private static func quote(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20: quoted += "\\u" + padded(scalar.value, to: 4, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
