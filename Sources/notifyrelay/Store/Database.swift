// Wraps a connection to SQLite.

import CSQLite
import FoundationEssentials

/// A database of this process alone, whose changes wait for ``commit()``.
final class Database {
  private let path: String
  private let handle: OpaquePointer
  private var statements: [String: OpaquePointer] = [:]
  private(set) var isChanging = false

  /// Opens a file, and makes it if it is missing. Its header says with which version of the tables
  /// it was made, 1 or more.
  init(_ path: String, version: Int64, schema: String) throws(Mistake) {
    self.path = path
    var handle: OpaquePointer?
    let result = sqlite3_open_v2(
      path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, nil)
    guard result == SQLITE_OK, let handle else {
      let reason = String(cString: sqlite3_errstr(result))
      throw Mistake("\(path) cannot be opened: \(reason)", status: 2)
    }
    self.handle = handle
    let found = try rows("PRAGMA user_version") { $0.signed(0) }.first
    guard found == 0 || found == version else {
      throw Mistake("\(path) was written by another version of notifyrelay")
    }
    // Nobody else uses it, so its lock is kept: each commit would take it six times.
    try execute(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
    if found == 0 { try execute("BEGIN; \(schema) PRAGMA user_version = \(version); COMMIT;") }
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(handle)
  }

  /// A value of a row.
  enum Value {
    case number(UInt64)
    case signed(Int64)
    case text(String)
  }

  /// Reads the rows of a query.
  func rows<Row>(
    _ sql: String, _ values: [Value] = [], _ make: (Reader) -> Row
  ) throws(Mistake) -> [Row] {
    let statement = try prepared(sql, values)
    defer { sqlite3_reset(statement) }
    var rows: [Row] = []
    while try step(statement) { rows.append(make(Reader(statement: statement))) }
    return rows
  }

  /// Changes something, together with all other changes until the next ``commit()``.
  func change(_ sql: String, _ values: Value...) throws(Mistake) {
    if !isChanging {
      try run("BEGIN IMMEDIATE")
      isChanging = true
    }
    try run(sql, values)
  }

  /// Stores what was changed. It survives the end of the process, however it ends.
  func commit() throws(Mistake) {
    guard isChanging else { return }
    try run("COMMIT")
    isChanging = false
  }

  private func run(_ sql: String, _ values: [Value] = []) throws(Mistake) {
    let statement = try prepared(sql, values)
    defer { sqlite3_reset(statement) }
    _ = try step(statement)
  }

  /// Reads the columns of a row.
  struct Reader {
    fileprivate let statement: OpaquePointer

    func number(_ column: Int32) -> UInt64 { UInt64(bitPattern: signed(column)) }

    func signed(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    func text(_ column: Int32) -> String {
      // Names may contain NUL.
      let start = sqlite3_column_text(statement, column)
      let count = Int(sqlite3_column_bytes(statement, column))
      return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }

  private func prepared(_ sql: String, _ values: [Value]) throws(Mistake) -> OpaquePointer {
    var statement = statements[sql]
    if statement == nil {
      try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
      statements[sql] = statement
    }
    guard let statement else { throw Mistake("\(path): not a statement: \(sql)") }
    for (index, value) in values.enumerated() {
      let position = Int32(index + 1)
      switch value {
      case .number(let number):
        try check(sqlite3_bind_int64(statement, position, Int64(bitPattern: number)))
      case .signed(let number): try check(sqlite3_bind_int64(statement, position, number))
      case .text(let text):
        try check(sqlite3_bind_text(statement, position, text, Int32(text.utf8.count), copied))
      }
    }
    return statement
  }

  private func step(_ statement: OpaquePointer) throws(Mistake) -> Bool {
    let result = sqlite3_step(statement)
    if result != SQLITE_ROW { try check(result == SQLITE_DONE ? SQLITE_OK : result) }
    return result == SQLITE_ROW
  }

  private func execute(_ script: String) throws(Mistake) {
    try check(sqlite3_exec(handle, script, nil, nil, nil))
  }

  private func check(_ result: Int32) throws(Mistake) {
    guard result == SQLITE_OK else {
      throw Mistake("\(path): \(String(cString: sqlite3_errmsg(handle)))", status: 2)
    }
  }
}

/// Makes SQLite copy a text.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
