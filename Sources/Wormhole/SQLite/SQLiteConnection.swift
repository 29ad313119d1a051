// Wraps a connection to SQLite.

internal import CSQLite
internal import DarwinNotifySupport
internal import Glibc

/// A connection to a database file.
///
/// A forked child must not use it.
package final class SQLiteConnection: @unchecked Sendable {
  // A pool makes sure that one thread at a time uses it.

  /// The file, for errors.
  let path: String

  /// The file that it was opened for.
  var file: FileID?

  /// The schema version for which the library's tables were checked.
  var checkedSchema: Int64?

  /// Collects the changed rows; `nil` if nobody asks for them, or SQLite cannot report them.
  private(set) var recorder: UnsafeMutablePointer<RowRecorder>?

  /// Whether statements that may change something are refused.
  var isForReading = false

  /// Whether the body of a transaction is running.
  var isInBody: Bool {
    get { inBody.pointee }
    set { inBody.pointee = newValue }
  }

  /// The pages of the write-ahead log after the last commit of this connection.
  let logPages: UnsafeMutablePointer<Int32>

  /// The pages of the log from which the next checkpoint is counted: those that the last complete
  /// one found, or fewer than an incomplete one found, so that the next is due sooner.
  var checkpointedPages: Int32 = 0

  // Allocated, since SQLite calls back with their addresses.
  private let inBody: UnsafeMutablePointer<Bool>
  private let handle: OpaquePointer
  private let process = getpid()
  private let busyWait: UnsafeMutablePointer<BusyWait>
  private var statements: [ExactString: SQLiteStatement] = [:]

  /// Enough for the fixed statements of a program. A program that generates statements must not
  /// fill the memory with them.
  private static let maxCacheCount = 128

  /// Opens a file that exists.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - isImmutable: whether nobody can write to the file or create one beside it.
  ///   - wait: the waits of the call that opens it.
  /// - Throws: ``WormholeError``.
  package init(
    opening path: String, isImmutable: Bool = false, wait: Backoff = Backoff()
  ) throws(WormholeError) {
    self.path = path
    var handle: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let result =
      if isImmutable {
        sqlite3_open_v2(immutable(path), &handle, flags | SQLITE_OPEN_URI, nil)
      } else {
        sqlite3_open_v2(path, &handle, flags, nil)
      }
    guard result == SQLITE_OK, let handle else {
      defer { sqlite3_close_v2(handle) }
      throw WormholeError(
        sqlite: result, message: String(cString: sqlite3_errstr(result)), path: path)
    }
    self.handle = handle
    inBody = .allocate(capacity: 1)
    inBody.initialize(to: false)
    busyWait = .allocate(capacity: 1)
    busyWait.initialize(to: BusyWait(ofCall: wait))
    BusyWait.install(busyWait, in: handle)
    logPages = .allocate(capacity: 1)
    logPages.initialize(to: 0)
    refuseTransactionsInBodies()
  }

  /// Starts collecting the rows that change.
  func recordRows() {
    let recorder = UnsafeMutablePointer<RowRecorder>.allocate(capacity: 1)
    recorder.initialize(to: RowRecorder())
    if RowRecorder.install(recorder, in: handle) {
      self.recorder = recorder
    } else {  // unreachable: Debian builds SQLite with the function that reports rows
      recorder.deinitialize(count: 1).deallocate()
    }
  }

  /// Counts the pages of the write-ahead log, instead of letting SQLite checkpoint it.
  func countLogPages() {
    sqlite3_wal_hook(
      handle,
      { pages, _, _, count in
        pages?.storeBytes(of: count, as: Int32.self)
        return SQLITE_OK
      }, logPages)
  }

  deinit {
    // A forked child abandons the connections of its parent.
    guard process == getpid() else { return }
    statements = [:]
    sqlite3_close_v2(handle)
    busyWait.deallocate()
    inBody.deallocate()
    logPages.deallocate()
    recorder?.deinitialize(count: 1).deallocate()
  }

  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Begins a call with a deadline for all its waits.
  func begin(_ wait: Backoff) {
    busyWait.pointee.ofCall = wait
  }

  /// Begins the time for waits anew, after work of the call itself.
  func restartWaits() {
    let limit = busyWait.pointee.ofCall.limit
    limit?.restartWaits()
    begin(Backoff(limit: limit))
  }

  /// Pauses before the next attempt to take a lock. Returns false if the time of the call is up.
  func waitForLock() -> Bool { busyWait.pointee.wait(isFirst: false) }

  /// Runs a body whose waits for locks together take no longer than a time.
  func waiting<Value>(
    atMost timeout: Duration, _ body: () throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    busyWait.pointee.ofPart = Backoff(timeout: timeout)
    defer { busyWait.pointee.ofPart = nil }
    return try body()
  }

  /// Prevents anything that another program put into the schema from doing harm.
  func distrustSchema() {
    _ = sqlite_shim_set(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    _ = sqlite_shim_set(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
  }

  /// The row id of the last inserted row.
  var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The number of rows that the last statement changed, not counting triggers.
  var changedRowCount: Int { Int(sqlite3_changes(handle)) }

  /// The number of rows that all statements have changed, counting triggers.
  var totalChangedRowCount: Int { Int(sqlite3_total_changes(handle)) }

  // MARK: Statements

  /// Prepares the statements of a text, each with its share of the values, and calls the body to
  /// run each.
  func run(
    _ text: String, _ fields: [SQLiteField], _ body: (SQLiteStatement) throws -> Void
  ) throws {
    let script = text
    var (text, fields) = (text[...], fields[...])
    while let (statement, rest) = try prepare(text) {
      let count = statement.parameterCount
      guard count <= fields.count else {
        throw WormholeError.database(code: SQLITE_RANGE, message: "too few values, in \(text)")
      }
      try statement.withFields(fields.prefix(count)) { Result { try body(statement) } }.get()
      (text, fields) = (rest, fields.dropFirst(count))
    }
    guard fields.isEmpty else {
      throw WormholeError.database(code: SQLITE_RANGE, message: "too many values, in \(script)")
    }
  }

  /// Runs statements without parameters and ignores their rows.
  package func execute(_ script: String) throws(WormholeError) {
    try begin()
    try check(script[...])
    try executeInAnyCase(script)
  }

  /// Runs statements even if nobody is waiting for them any longer.
  package func executeInAnyCase(_ script: String) throws(WormholeError) {
    let result = sqlite3_exec(handle, script, nil, nil, nil)
    guard result == SQLITE_OK else { throw error(result, in: script) }
  }

  /// Returns a statement that is ready to run. It belongs to the caller until it is reset.
  package func statement(_ sql: String) throws(WormholeError) -> SQLiteStatement {
    guard let (statement, rest) = try prepare(sql[...]), rest.isEmpty else {
      throw .database(code: SQLITE_MISUSE, message: "not one statement: \(sql)")
    }
    return statement
  }

  /// Runs a statement and ignores its rows.
  package func run(_ sql: String, _ fields: SQLiteField...) throws(WormholeError) {
    let statement = try statement(sql)
    try statement.withFields(fields[...]) { () throws(WormholeError) in
      while try statement.step() {}
    }
  }

  /// Runs a statement and makes a value of each row.
  package func rows<Value>(
    _ sql: String, _ fields: SQLiteField...,
    make: (SQLiteStatement) throws(WormholeError) -> Value
  ) throws(WormholeError) -> [Value] {
    let statement = try statement(sql)
    return try statement.withFields(fields[...]) { () throws(WormholeError) in
      var values: [Value] = []
      while try statement.step() { values.append(try make(statement)) }
      return values
    }
  }

  /// Runs a statement and returns the first column of the first row, if it is an integer.
  package func integer(_ sql: String, _ fields: SQLiteField...) throws(WormholeError) -> Int64? {
    let statement = try statement(sql)
    return try statement.withFields(fields[...]) { () throws(WormholeError) in
      try statement.step() ? statement.integer(0) : nil
    }
  }

  /// Prepares the first statement of a text, or takes it from the cache.
  ///
  /// - Returns: the statement and the text after it, or `nil` if there are only comments.
  private func prepare(
    _ text: Substring
  ) throws(WormholeError) -> (statement: SQLiteStatement, rest: Substring)? {
    try begin()
    var sql = String(text)
    if let statement = statements[ExactString(sql)] { return (statement, "") }
    try check(text)
    var prepared: OpaquePointer?
    var used = 0
    let result = sql.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        var tail: UnsafePointer<CChar>?
        let result = sqlite3_prepare_v2(
          handle, text.baseAddress, Int32(clamping: text.count), &prepared, &tail)
        if let start = text.baseAddress, let tail { used = tail - start }
        return result
      }
    }
    guard result == SQLITE_OK else { throw error(result, in: String(text)) }
    guard let prepared else { return nil }
    let statement = SQLiteStatement(adopting: prepared, of: handle, path: path, wait: busyWait)
    guard !isForReading || statement.isReadOnly else {
      throw .database(code: SQLITE_READONLY, message: "a reader cannot write")
    }
    let rest = sql[sql.utf8.index(sql.startIndex, offsetBy: used)...]
    if rest.isEmpty {
      if statements.count >= Self.maxCacheCount { statements = [:] }
      statements[ExactString(sql)] = statement
    }
    return (statement, rest)
  }

  /// Begins a statement, if there may be one.
  private func begin() throws(WormholeError) {
    if let failure = busyWait.pointee.ofCall.limit?.failure { throw failure }
    guard !isInBody || isInTransaction else {
      throw .database(code: sqliteHasRolledBack, message: "the transaction was ended inside")
    }
  }

  /// SQLite would ignore everything after a NUL.
  private func check(_ text: Substring) throws(WormholeError) {
    guard !text.utf8.contains(0) else {
      let shown = text.replacing("\0", with: "\\0")
      throw .database(code: SQLITE_MISUSE, message: "a NUL in a statement, in \(shown)")
    }
  }

  /// Prevents the body of a transaction from ending it or beginning another.
  private func refuseTransactionsInBodies() {
    sqlite3_set_authorizer(
      handle,
      { inBody, action, _, _, _, _ in
        guard action == SQLITE_TRANSACTION, let inBody else { return SQLITE_OK }
        return inBody.load(as: Bool.self) ? SQLITE_DENY : SQLITE_OK
      }, inBody)
  }

  private func error(_ result: Int32, in statement: String) -> WormholeError {
    WormholeError(
      sqlite: result, message: String(cString: sqlite3_errmsg(handle)), statement: statement,
      systemError: sqlite3_system_errno(handle), path: path, limit: busyWait.pointee.ofCall.limit)
  }
}

/// Returns the name by which SQLite opens a file that nobody can write, without locks or files
/// beside it.
private func immutable(_ path: String) -> String {
  let escaped = path.utf8.map { byte -> String in
    let isSpecial = byte >= 0x80 || "%?#".utf8.contains(byte)
    return isSpecial ? "%" + String(byte, radix: 16) : String(UnicodeScalar(byte))
  }
  return "file:\(escaped.joined())?immutable=1"
}
