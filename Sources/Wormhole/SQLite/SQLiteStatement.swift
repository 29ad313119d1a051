// Wraps a statement of SQLite.

internal import CSQLite
internal import FoundationEssentials

/// A prepared statement, used by one thread at a time and within the life of its connection.
package final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private let path: String
  private let wait: UnsafePointer<BusyWait>

  /// Takes over a statement of a connection.
  init(
    adopting handle: OpaquePointer, of connection: OpaquePointer, path: String,
    wait: UnsafePointer<BusyWait>
  ) {
    self.wait = wait
    self.handle = handle
    self.connection = connection
    self.path = path
  }

  deinit {
    sqlite3_finalize(handle)
  }

  var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  /// Whether it cannot change a database.
  var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  package var columnNames: [String] {
    (0..<sqlite3_column_count(handle)).map {
      sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? ""
    }
  }

  // MARK: Parameters, counted from 1

  func bind(_ value: Int64?, at index: Int32) throws(WormholeError) {
    guard let value else { return try check(sqlite3_bind_null(handle, index)) }
    try check(sqlite3_bind_int64(handle, index, value))
  }

  func bind(_ text: String, at index: Int32) throws(WormholeError) {
    let result = text.withCString { start in
      sqlite3_bind_text64(
        handle, index, start, UInt64(text.utf8.count), copiedBySQLite, UInt8(SQLITE_UTF8))
    }
    try check(result)
  }

  /// Binds bytes, which are not copied, while a body runs.
  func withBlob<Result>(
    _ data: Data, at index: Int32, _ body: () throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    // Foundation does not rethrow typed errors.
    let result = data.withUnsafeBytes { bytes -> Swift.Result<Result, WormholeError> in
      Swift.Result { () throws(WormholeError) in
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
          try check(sqlite3_bind_zeroblob(handle, index, 0))
          return try body()
        }
        try check(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil))
        defer { sqlite3_bind_null(handle, index) }
        return try body()
      }
    }
    return try result.get()
  }

  /// Binds values while a body runs. The statement is at its beginning before and after.
  package func withFields<Result>(
    _ fields: ArraySlice<SQLiteField>, _ body: () throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    defer {
      reset()
      sqlite3_clear_bindings(handle)
    }
    return try bind(fields, from: 1, body)
  }

  private func bind<Result>(
    _ fields: ArraySlice<SQLiteField>, from index: Int32,
    _ body: () throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    guard let field = fields.first else { return try body() }
    switch field {
    case .null: try check(sqlite3_bind_null(handle, index))
    case .integer(let number): try check(sqlite3_bind_int64(handle, index, number))
    case .real(let number): try check(sqlite3_bind_double(handle, index, number))
    case .text(let text): try bind(text, at: index)
    case .blob(let data):
      return try withBlob(data, at: index) { () throws(WormholeError) in
        defer { reset() }
        return try bind(fields.dropFirst(), from: index + 1, body)
      }
    }
    return try bind(fields.dropFirst(), from: index + 1, body)
  }

  /// Resets the statement and clears its parameters.
  func clear() {
    reset()
    sqlite3_clear_bindings(handle)
  }

  // MARK: Running

  /// Advances to the next row. Returns false if there is none.
  package func step() throws(WormholeError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connectionError()
    }
  }

  /// Returns to the beginning.
  func reset() {
    sqlite3_reset(handle)
  }

  // MARK: Columns of the row, counted from 0

  package func field(_ column: Int32) -> SQLiteField {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(blob(column))
    default: .null
    }
  }

  /// The integer in a column, or `nil` if it holds another type.
  package func integer(_ column: Int32) -> Int64? {
    guard sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
    return sqlite3_column_int64(handle, column)
  }

  /// The bytes of a column that holds text or a blob.
  func byteCount(_ column: Int32) -> Int {
    Int(sqlite3_column_bytes(handle, column))
  }

  /// The text in a column, `nil` if it holds another type or is not valid UTF-8.
  package func validText(_ column: Int32) -> String? {
    guard sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
    let start = sqlite3_column_text(handle, column)
    return String(
      validating: UnsafeBufferPointer(start: start, count: byteCount(column)), as: UTF8.self)
  }

  private func text(_ column: Int32) -> String {
    let start = sqlite3_column_text(handle, column)
    return String(
      decoding: UnsafeBufferPointer(start: start, count: byteCount(column)), as: UTF8.self)
  }

  private func blob(_ column: Int32) -> Data {
    let start = sqlite3_column_blob(handle, column)
    return Data(UnsafeRawBufferPointer(start: start, count: byteCount(column)))
  }

  // MARK: Errors

  private func check(_ result: Int32) throws(WormholeError) {
    guard result == SQLITE_OK else { throw connectionError() }
  }

  private func connectionError() -> WormholeError {
    WormholeError(
      sqlite: sqlite3_extended_errcode(connection),
      message: String(cString: sqlite3_errmsg(connection)),
      statement: sqlite3_sql(handle).map { String(cString: $0) },
      systemError: sqlite3_system_errno(connection), path: path,
      limit: wait.pointee.ofCall.limit)
  }
}

/// Lets SQLite copy what is bound: `SQLITE_TRANSIENT`, a macro that Swift does not see.
private let copiedBySQLite = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
