// Represents the values of a database.

public import FoundationEssentials

/// The value of a field of a database.
public enum SQLiteField: Hashable, Sendable {
  /// NULL.
  case null

  /// A whole number.
  case integer(Int64)

  /// A floating-point number. SQLite stores NaN as NULL.
  case real(Double)

  /// A text. Invalid UTF-8 is read as replacement characters.
  case text(String)

  /// Bytes.
  case blob(Data)

  /// The value as a sentence shows it.
  var inWords: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "the text \(text.prefix(100))"
    case .blob(let data): "\(data.count) bytes"
    }
  }
}

/// A type whose values can be stored in a field of a database.
///
/// Integers of any size, `Double`, `Float`, `String`, `Data`, `Bool`, `Date` and `UUID` can. A type
/// of your own conforms by means of one of these; one with raw values, such as an enum, need only
/// say so.
public protocol SQLiteValue: Sendable {
  /// The field for the value.
  var field: SQLiteField { get }

  /// Creates a value from a field, or `nil` if the field holds another type.
  ///
  /// - Parameter field: the field.
  init?(field: SQLiteField)
}

extension UInt64: SQLiteValue {
  /// The number. Those above `Int64.max`, which SQLite does not have, are stored as the same bits.
  public var field: SQLiteField { .integer(Int64(bitPattern: self)) }

  /// Takes whole numbers only.
  public init?(field: SQLiteField) {
    guard case .integer(let number) = field else { return nil }
    self.init(bitPattern: number)
  }
}

extension Double: SQLiteValue {
  /// The number.
  public var field: SQLiteField { .real(self) }

  /// Takes numbers of both kinds.
  public init?(field: SQLiteField) {
    switch field {
    case .real(let number): self = number
    case .integer(let number): self = Double(number)
    default: return nil
    }
  }
}

extension Bool: SQLiteValue {
  /// 1 for true, 0 for false.
  public var field: SQLiteField { .integer(self ? 1 : 0) }

  /// Takes whole numbers; every number but 0 is true.
  public init?(field: SQLiteField) {
    guard case .integer(let number) = field else { return nil }
    self = number != 0
  }
}

extension String: SQLiteValue {
  /// The text, including any NULs.
  public var field: SQLiteField { .text(self) }

  /// Takes texts only.
  public init?(field: SQLiteField) {
    guard case .text(let text) = field else { return nil }
    self = text
  }
}

extension Data: SQLiteValue {
  /// The bytes.
  public var field: SQLiteField { .blob(self) }

  /// Takes bytes only.
  public init?(field: SQLiteField) {
    guard case .blob(let data) = field else { return nil }
    self = data
  }
}

extension Date: SQLiteValue {
  /// The seconds since the beginning of 1970, as a floating-point number.
  public var field: SQLiteField { .real(timeIntervalSince1970) }

  /// Takes numbers of both kinds: seconds since the beginning of 1970.
  public init?(field: SQLiteField) {
    guard let seconds = Double(field: field) else { return nil }
    self.init(timeIntervalSince1970: seconds)
  }
}
