// Encodes values as rows.

/// Collects the fields of a value, each for the column that its key names.
final class RowEncoder: Encoder {
  private var columns: [(name: String, field: SQLiteField)] = []

  /// A value that is not a field, and why. Encoders must hand out containers for it without error.
  fileprivate var refused: String?

  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// Returns the columns of a value, with NULL for what is absent.
  ///
  /// - Throws: ``WormholeError/encoding``.
  static func columns<Value: Encodable>(
    of value: Value
  ) throws(WormholeError) -> [(name: String, field: SQLiteField)] {
    let encoder = RowEncoder()
    do {
      try value.encode(to: encoder)
    } catch let error as WormholeError {
      throw error
    } catch {
      throw .encoding("\(Value.self): \(sentence(of: error))")
    }
    if let refused = encoder.refused { throw .encoding("\(Value.self): \(refused)") }
    return encoder.columns
  }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RowEncodingContainer(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { nowhere("no columns, but an array") }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    nowhere("no columns, but one value")
  }

  fileprivate func add<T: Encodable>(_ value: T?, to column: String) throws {
    guard let value else { return columns.append((column, .null)) }
    guard let field = try FieldEncoder.field(of: value) else {
      refused = "the column \(column) is for one field, not for \(T.self)"
      return
    }
    columns.append((column, field))
  }

  fileprivate func nowhere(_ reason: String) -> Nowhere {
    refused = reason
    return Nowhere()
  }
}

/// The columns of a row as a container.
private struct RowEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: RowEncoder

  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) throws { try add(String?.none, key) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try add(value, key) }

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    nowhere(key.stringValue).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nowhere(key.stringValue)
  }

  func superEncoder() -> any Encoder { encoder }
  func superEncoder(forKey key: Key) -> any Encoder { nowhere(key.stringValue) }

  private func nowhere(_ column: String) -> Nowhere {
    encoder.nowhere("the column \(column) is for one field")
  }

  private func add<T: Encodable>(_ value: T?, _ key: Key) throws {
    try encoder.add(value, to: key.stringValue)
  }

  // Unlike the default implementations, these keep what is absent.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try add(value, key) }
  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try add(value, key) }
}

/// Encodes one field.
private final class FieldEncoder: Encoder, SingleValueEncodingContainer {
  private var field: SQLiteField?
  private var isRefused = false

  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// Returns the field for a value, `nil` if it is not one value.
  static func field<T: Encodable>(of value: T) throws -> SQLiteField? {
    if let value = value as? any SQLiteValue { return value.field }
    // An integer type that no field can hold would ask for itself again, endlessly.
    if value is any FixedWidthInteger { return nil }
    let encoder = FieldEncoder()
    try value.encode(to: encoder)
    return encoder.isRefused ? nil : encoder.field
  }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    isRefused = true
    return Nowhere().container(keyedBy: type)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    isRefused = true
    return Nowhere()
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { field = .null }

  func encode<T: Encodable>(_ value: T) throws {
    field = try Self.field(of: value)
    if field == nil { isRefused = true }
  }
}

/// Accepts and ignores values that were refused.
private struct Nowhere: Encoder, UnkeyedEncodingContainer, SingleValueEncodingContainer {
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  var count: Int { 0 }

  func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedNowhere())
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }
  func encodeNil() {}
  func encode<T: Encodable>(_ value: T) {}

  func nestedContainer<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
  func superEncoder() -> any Encoder { self }
}

private struct KeyedNowhere<Key: CodingKey>: KeyedEncodingContainerProtocol {
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) {}
  func encode<T: Encodable>(_ value: T, forKey key: Key) {}

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    Nowhere().container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Nowhere() }
  func superEncoder() -> any Encoder { Nowhere() }
  func superEncoder(forKey key: Key) -> any Encoder { Nowhere() }
}
