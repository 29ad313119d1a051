// Represents rows as values of Swift types.

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
  /// - Throws: ``WormholeError/decoding``, with the column, what it holds and what is expected,
  ///   if it holds another type; also if there is no such column, even for an optional.
  public func decode<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(WormholeError) -> Value {
    let decoder = RowDecoder(row: self)
    do {
      // A single field is also read as its type says: `Date` would count from 2001.
      guard type is any SQLiteValue.Type, fields.count == 1 else { return try Value(from: decoder) }
      return try decoder.singleValueContainer().decode(type)
    } catch let error as WormholeError {
      throw error
    } catch {
      throw .decoding("\(Value.self): \(sentence(of: error))")
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
  ) throws(WormholeError) -> [Value] {
    try rows(sql, arguments: values, as: type)
  }

  /// Runs statements with an array of values, and decodes the rows of the last one.
  ///
  /// - Parameters:
  ///   - sql: one or more statements.
  ///   - values: the values of their parameters, one after the other; `nil` is NULL.
  ///   - type: the type of the values to return.
  /// - Returns: a value for each row.
  /// - Throws: what ``run(_:_:)`` throws, what ``SharedDatabase/Row/decode(as:)`` throws.
  public borrowing func rows<Value: Decodable>(
    _ sql: String, arguments values: [(any SQLiteValue)?], as type: Value.Type
  ) throws(WormholeError) -> [Value] {
    var decoded: [Value] = []
    for row in try rows(sql, arguments: values) { decoded.append(try row.decode()) }
    return decoded
  }

  /// Inserts a value as a row: each property into the column that its coding key names.
  ///
  /// Properties that are `nil` are left out, so that their columns get their defaults; an
  /// `INTEGER PRIMARY KEY` gets the row id.
  ///
  /// - Parameters:
  ///   - value: the value. The types of its properties are those of
  ///     ``SharedDatabase/Row/decode(as:)``.
  ///   - table: the name of the table.
  /// - Returns: the row id of the row.
  /// - Throws: ``WormholeError/encoding`` for a property that is not one field; what
  ///   ``run(_:_:)`` throws, also if there is no such column.
  @discardableResult public borrowing func insert<Value: Encodable>(
    _ value: Value, into table: String
  ) throws(WormholeError) -> Int64 {
    let columns = try RowEncoder.columns(of: value).filter { $0.field != .null }
    let names = columns.map { sqlIdentifier($0.name) }.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    let values = columns.isEmpty ? "DEFAULT VALUES" : "(\(names)) VALUES(\(marks))"
    try run("INSERT INTO \(sqlIdentifier(table)) \(values)", fields: columns.map(\.field))
    return lastInsertedRowID
  }

  /// Updates the row of a value: sets all columns that the coding keys of the value name.
  ///
  /// A property that is `nil` becomes NULL.
  ///
  /// - Parameters:
  ///   - value: the value. The types of its properties are those of
  ///     ``SharedDatabase/Row/decode(as:)``.
  ///   - table: the name of the table.
  ///   - key: the column by which the row is found. The value must have it as well.
  /// - Throws: ``WormholeError/noSuchRow`` if there is none;
  ///   ``WormholeError/encoding`` for a property that is not one field, or a value without the
  ///   key; what ``run(_:_:)`` throws, also if there is no such column.
  public borrowing func update<Value: Encodable>(
    _ value: Value, in table: String, by key: String = "id"
  ) throws(WormholeError) {
    let columns = try RowEncoder.columns(of: value)
    guard let column = columns.first(where: { $0.name == key }), column.field != .null else {
      throw .encoding("\(Value.self) has nothing for the column \(key)")
    }
    let settings = columns.map { "\(sqlIdentifier($0.name)) = ?" }.joined(separator: ", ")
    let condition = "WHERE \(sqlIdentifier(key)) = ?"
    try run(
      "UPDATE \(sqlIdentifier(table)) SET \(settings) \(condition)",
      fields: columns.map(\.field) + [column.field])
    // Rows that the triggers of a view have updated do not count as changed.
    guard changedRowCount == 0 else { return }
    let rows = "SELECT 1 FROM \(sqlIdentifier(table)) \(condition)"
    guard try hasRow(rows, column.field) else {
      throw .noSuchRow(table: table, key: "\(key) = \(column.field.inWords)", path: path)
    }
  }
}
