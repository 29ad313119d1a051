// Represents what stands in a field of a database.

public import Foundation

/// What a field of a database holds.
public enum SQLiteField: Hashable, Sendable {
  /// Nothing.
  case null

  /// A whole number.
  case integer(Int64)

  /// A floating-point number. SQLite keeps what is not a number as nothing.
  case real(Double)

  /// A text. Bytes that are no UTF-8 are read as replacement characters.
  case text(String)

  /// Bytes.
  case blob(Data)
}

/// A type whose values can be kept in a field of a database.
///
/// Integers, `Double`, `String`, `Data`, `Bool` and `Date` can. A type of your own conforms by
/// means of one of these.
public protocol SQLiteValue: Sendable {
  /// What a field holds for the value.
  var field: SQLiteField { get }

  /// Makes the value that a field holds, or `nil` if it holds none of this type.
  ///
  /// - Parameter field: what the field holds.
  init?(field: SQLiteField)
}

extension Int64: SQLiteValue {
  /// The number.
  public var field: SQLiteField { .integer(self) }

  /// Takes whole numbers only.
  public init?(field: SQLiteField) {
    guard case .integer(let number) = field else { return nil }
    self = number
  }
}

extension Int: SQLiteValue {
  /// The number.
  public var field: SQLiteField { .integer(Int64(self)) }

  /// Takes whole numbers only.
  public init?(field: SQLiteField) {
    guard case .integer(let number) = field else { return nil }
    self.init(exactly: number)
  }
}

extension UInt64: SQLiteValue {
  /// The number; those above `Int64.max`, which SQLite does not have, by their bits.
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
  /// The text, with all NULs in it.
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
