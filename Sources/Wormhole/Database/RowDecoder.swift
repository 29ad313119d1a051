// Decodes rows.

extension SharedDatabase.Row {
  /// Decodes the row.
  ///
  /// Each property is read from the column that its coding key names. Its type is one that
  /// ``SQLiteValue`` lists, an enum or another type that is encoded as one of these, or an
  /// optional, which is `nil` for NULL. Columns that no key names are ignored. A row of one column
  /// can also be decoded as one of these types.
  ///
  /// - Parameter type: the type of the value.
  /// - Returns: the value.
  /// - Throws: ``WormholeError/decoding``, with the column, its actual and its expected type, if it
  ///   holds another type; also if the column does not exist, even for an optional.
  public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
    let decoder = RowDecoder(row: self)
    do {
      // A single field is also decoded by its own type: `Date` would otherwise count from 2001.
      guard type is any SQLiteValue.Type, fields.count == 1 else { return try Value(from: decoder) }
      return try decoder.singleValueContainer().decode(type)
    } catch let error as WormholeError {
      throw error
    } catch {
      throw WormholeError.decoding("\(Value.self): \(sentence(of: error))")
    }
  }
}

extension SharedDatabase.Connection {
  /// Runs statements and decodes the rows of the last one.
  ///
  /// - Parameters:
  ///   - sql: one or more statements.
  ///   - values: the values of their parameters, one after the other; `nil` is NULL.
  ///   - type: the type of the values to return.
  /// - Returns: a value for each row.
  /// - Throws: what ``run(_:_:)`` throws, what ``SharedDatabase/Row/decode(as:)`` throws.
  public borrowing func rows<Value: Decodable>(
    _ sql: String, _ values: (any SQLiteValue)?..., as type: Value.Type
  ) throws -> [Value] {
    try rows(sql, arguments: values, as: type)
  }

  /// Runs statements with an array of values, as ``rows(_:_:as:)`` does.
  public borrowing func rows<Value: Decodable>(
    _ sql: String, arguments values: [(any SQLiteValue)?], as type: Value.Type
  ) throws -> [Value] {
    try rows(sql, arguments: values).map { try $0.decode() }
  }
}

/// Decodes the fields of a row, each under the name of its column.
struct RowDecoder: Decoder {
  let row: SharedDatabase.Row

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowDecodingContainer(row: row))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw WormholeError.decoding("the columns of a row have names, expected an array")
  }

  /// A row of one column can be decoded as its field.
  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    guard row.fields.count == 1 else {
      let names = row.columnNames.joined(separator: ", ")
      throw WormholeError.decoding("there are the columns \(names), expected one")
    }
    return FieldDecoder(field: row.fields[0])
  }
}

/// The columns of a row as a container.
private struct RowDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: SharedDatabase.Row

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.columnNames.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row.columnNames.contains(key.stringValue) }

  func decodeNil(forKey key: Key) throws -> Bool { try row.field(key.stringValue) == .null }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    let field = try row.field(key.stringValue)
    do {
      return try FieldDecoder(field: field).decode(type)
    } catch {
      throw WormholeError.decoding(
        "the column \(key.stringValue) holds \(field.inWords), expected \(type)")
    }
  }

  func nestedContainer<Nested>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { throw notOneField(key) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    throw notOneField(key)
  }

  func superDecoder() throws -> any Decoder { RowDecoder(row: row) }
  func superDecoder(forKey key: Key) throws -> any Decoder { throw notOneField(key) }

  private func notOneField(_ key: Key) -> WormholeError {
    .decoding("the column \(key.stringValue) is one field, expected several values")
  }

  /// Unlike the default implementation, this treats a missing column as an error.
  private func optional<T: Decodable>(_ key: Key) throws -> T? {
    try decodeNil(forKey: key) ? nil : decode(T.self, forKey: key)
  }

  func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
  func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? { try optional(key) }
  func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }
  func decodeIfPresent(_: Float.Type, forKey key: Key) throws -> Float? { try optional(key) }
  func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
  func decodeIfPresent(_: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key) }
  func decodeIfPresent(_: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key) }
  func decodeIfPresent(_: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key) }
  func decodeIfPresent(_: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key) }
  func decodeIfPresent(_: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key) }
  func decodeIfPresent(_: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key) }
  func decodeIfPresent(_: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key) }
  func decodeIfPresent(_: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key) }
  func decodeIfPresent(_: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key) }
  func decodeIfPresent<T: Decodable>(_: T.Type, forKey key: Key) throws -> T? {
    try optional(key)
  }
}

/// Decodes one field. The container adds the name of the column to errors.
private struct FieldDecoder: Decoder, SingleValueDecodingContainer {
  let field: SQLiteField

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw mismatch("several values")
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch("an array") }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { field == .null }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let type = type as? any SQLiteValue.Type {
      guard let value = type.init(field: field) as? T else { throw mismatch("\(type)") }
      return value
    }
    // An integer type that no field can hold would ask for itself again, endlessly.
    guard !(type is any FixedWidthInteger.Type) else { throw mismatch("\(type)") }
    return try T(from: self)
  }

  private func mismatch(_ expected: String) -> WormholeError {
    .decoding("the column holds \(field.inWords), expected \(expected)")
  }
}
