// Stores more types in the fields of a database.

public import FoundationEssentials

extension Int8: SQLiteValue {}
extension Int16: SQLiteValue {}
extension Int32: SQLiteValue {}
extension Int64: SQLiteValue {}
extension Int: SQLiteValue {}
extension UInt8: SQLiteValue {}
extension UInt16: SQLiteValue {}
extension UInt32: SQLiteValue {}

extension SQLiteValue where Self: FixedWidthInteger {
  /// The number.
  public var field: SQLiteField { .integer(Int64(self)) }

  /// Takes whole numbers that fit only.
  public init?(field: SQLiteField) {
    guard case .integer(let number) = field else { return nil }
    self.init(exactly: number)
  }
}

extension UInt: SQLiteValue {
  /// The number. Those above `Int64.max`, which SQLite does not have, are stored with the same
  /// bits.
  public var field: SQLiteField { UInt64(self).field }

  /// Takes whole numbers only.
  public init?(field: SQLiteField) {
    guard let number = UInt64(field: field) else { return nil }
    self.init(number)
  }
}

extension UUID: SQLiteValue {
  /// The text of the identifier, such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
  public var field: SQLiteField { .text(uuidString) }

  /// Takes the text of an identifier, in any case, or its 16 bytes.
  public init?(field: SQLiteField) {
    switch field {
    case .text(let text): self.init(uuidString: text)
    case .blob(let data) where data.count == 16:
      var bytes = noBytes
      withUnsafeMutableBytes(of: &bytes) { bytes in _ = data.copyBytes(to: bytes) }
      self.init(uuid: bytes)
    default: return nil
    }
  }
}

private let noBytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

extension Float: SQLiteValue {
  /// The number.
  public var field: SQLiteField { .real(Double(self)) }

  /// Takes numbers of both kinds.
  public init?(field: SQLiteField) {
    guard let number = Double(field: field) else { return nil }
    self.init(number)
  }
}

/// An enum with raw values, or another wrapper of a value, needs only say that it conforms.
extension SQLiteValue where Self: RawRepresentable, RawValue: SQLiteValue {
  /// The field for the raw value.
  public var field: SQLiteField { rawValue.field }

  /// Takes the raw value of one of the cases.
  public init?(field: SQLiteField) {
    guard let value = RawValue(field: field) else { return nil }
    self.init(rawValue: value)
  }
}
