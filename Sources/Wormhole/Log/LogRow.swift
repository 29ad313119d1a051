// Represents records as rows of a log.

internal import FoundationEssentials

/// A record of a log.
struct LogRow {
  private let record: Wormhole.Record

  /// The column `kind`.
  private enum Kind: Int64 {
    case message = 1
    case ping = 2
    case cleared = 3
  }

  /// The longest name of a codec or a type, in bytes.
  private static let maxNameBytes = Int(UInt16.max)

  init(_ record: Wormhole.Record) throws(WormholeError) {
    if let error = record.content.notStorable { throw error }
    if case .value(let payload) = record.content {
      let bytes = max(payload.codec.utf8.count, payload.type.utf8.count)
      guard bytes <= Self.maxNameBytes else {
        throw .tooLarge(bytes: bytes, limit: Self.maxNameBytes)
      }
    }
    self.record = record
  }

  /// Whether it removes all records before it.
  var isClearing: Bool { if case .cleared = record.content { true } else { false } }

  /// About how many bytes it needs in a file.
  var bytes: Int64 {
    guard case .value(let payload) = record.content else { return Self.fixedBytes }
    return Self.fixedBytes + Int64(payload.data.count)
  }

  /// The columns of a row beside its payload.
  private static let fixedBytes: Int64 = 64

  // MARK: - Writing

  /// Appends the row to a log. Returns its number.
  func insert(into log: SQLiteConnection) throws(WormholeError) -> Int64 {
    do throws(WormholeError) {
      switch record.content {
      case .value(let payload): try insert(payload, into: log)
      case .ping: try log.run(Self.insertPing, time, pid, uid, process)
      case .cleared:
        if log.isInTransaction {
          try clear(log)
        } else {
          try log.transaction(.immediate) { () throws(WormholeError) in try clear(log) }.get()
        }
      case .absent, .unreadable: break
      }
    } catch let error where error.number == sqliteHasOtherType {
      // There is no number after the last one.
      throw .damaged(path: log.path)
    }
    return log.lastInsertedRow
  }

  private var time: SQLiteField { .integer(record.date.nanoseconds) }
  private var pid: SQLiteField { .integer(Int64(record.sender.pid)) }
  private var uid: SQLiteField { .integer(Int64(record.sender.uid)) }
  private var process: SQLiteField { record.sender.process.field }

  /// One statement that is a transaction by itself, the cheapest kind.
  private func insert(_ payload: Wormhole.Payload, into log: SQLiteConnection) throws(WormholeError)
  {
    let statement = try log.statement(Self.insertMessage)
    defer { statement.reset() }
    try statement.bind(record.date.nanoseconds, at: 1)
    try statement.bind(Int64(record.sender.pid), at: 2)
    try statement.bind(Int64(record.sender.uid), at: 3)
    try statement.bind(Int64(bitPattern: record.sender.process), at: 4)
    try statement.bind(payload.codec, at: 5)
    try statement.bind(payload.type, at: 6)
    try statement.bind(Int64(payload.version), at: 7)
    try statement.withBlob(payload.data, at: 8) { () throws(WormholeError) in
      defer { statement.reset() }
      _ = try statement.step()
    }
  }

  private func clear(_ log: SQLiteConnection) throws(WormholeError) {
    // Inserting first: the next number follows from the records that are about to go.
    try log.run(Self.insertCleared, time, pid, uid, process)
    try log.run("DELETE FROM records WHERE number < ?", .integer(log.lastInsertedRow))
  }

  // MARK: - Reading

  /// Makes the record of a row of ``selectAfter`` or ``selectNewestMessage``. Another program may
  /// have written the row, so every column is checked.
  static func record(in row: SQLiteStatement, path: String) -> Wormhole.NumberedRecord {
    let number = row.integer(0).flatMap { UInt64(exactly: $0) } ?? 0
    let found = row.sender(from: 3)
    let time = row.integer(2)
    let isSigned = number > 0 && found != nil && time != nil
    let content = isSigned ? content(of: row, path: path) : .unreadable(.damaged(path: path))
    let sender = found ?? .unknown
    let date = Date(nanoseconds: time ?? 0)
    return Wormhole.NumberedRecord(
      number: number, record: Wormhole.Record(content, date: date, sender: sender))
  }

  static func payloadBytes(in row: SQLiteStatement) -> Int {
    row.byteCount(payloadColumn)
  }

  private static let payloadColumn: Int32 = 9

  private static func content(
    of row: SQLiteStatement, path: String
  ) -> Wormhole.Content<Wormhole.Payload> {
    switch row.integer(1).flatMap(Kind.init) {
    case .message: message(in: row, path: path)
    case .ping: .ping
    case .cleared: .cleared
    case nil: .unreadable(.damaged(path: path))
    }
  }

  private static func message(
    in row: SQLiteStatement, path: String
  ) -> Wormhole.Content<Wormhole.Payload> {
    let bytes = payloadBytes(in: row)
    guard bytes <= MessageLimits.payloadBytes else {
      return .unreadable(.tooLarge(bytes: bytes, limit: MessageLimits.payloadBytes))
    }
    guard max(row.byteCount(6), row.byteCount(7)) <= maxNameBytes,
      case .text(let codec) = row.field(6), case .text(let type) = row.field(7),
      let version = row.integer(8).flatMap({ UInt32(exactly: $0) }),
      case .blob(let data) = row.field(payloadColumn)
    else { return .unreadable(.damaged(path: path)) }
    return .value(Wormhole.Payload(codec: codec, type: type, version: version, data: data))
  }
}

extension LogRow {
  // MARK: - Statements

  private static let insertMessage = """
    INSERT INTO records(number, kind, time, pid, uid, process, codec, type, version, payload)
    VALUES(\(nextNumber), 1, ?, ?, ?, ?, ?, ?, ?, ?)
    """

  private static let insertPing = """
    INSERT INTO records(number, kind, time, pid, uid, process, message)
    VALUES(\(nextNumber), 2, ?, ?, ?, ?, \(newestMessage))
    """

  private static let insertCleared = """
    INSERT INTO records(number, kind, time, pid, uid, process)
    VALUES(\(nextNumber), 3, ?, ?, ?, ?)
    """

  private static let columns =
    "number, kind, time, pid, uid, process, codec, type, version, payload"

  /// The records after a number, up to a limit.
  static let selectAfter = """
    SELECT \(columns) FROM records WHERE number > ? ORDER BY number LIMIT ?
    """

  /// The newest message, if there is one.
  static let selectNewestMessage = "SELECT \(columns) FROM records WHERE number = \(newestMessage)"

  /// The number of records that ``newestOutdated`` looks at.
  static let outdatedLength: Int64 = 1024

  /// Among the oldest records, the newest one from before a time. The clock of a sender may have
  /// been ahead.
  static let newestOutdated = """
    SELECT max(number) FROM (SELECT number, time FROM records ORDER BY number
    LIMIT \(outdatedLength)) WHERE time < ?
    """

  /// Removes the records up to a number. The newest message stays.
  static let delete = "DELETE FROM records WHERE number <= ? AND number IS NOT \(newestMessage)"

  static let selectName = "SELECT name FROM meta"

  static let selectIdentity = "SELECT identity FROM meta"

  /// The number after the last one; NULL for the first, which SQLite turns into 1. After the
  /// greatest there is none: SQLite by itself would take any free one.
  private static let nextNumber = """
    (SELECT 1 + max(number, 0) FROM records ORDER BY number DESC LIMIT 1)
    """

  private static let newestMessage = """
    (SELECT CASE kind WHEN 2 THEN message WHEN 3 THEN NULL ELSE number END
    FROM records ORDER BY number DESC LIMIT 1)
    """

  /// The schema of the log of a name. Without a name it can only be checked.
  static func schema(of name: String?) -> SQLiteSchema {
    SQLiteSchema(
      applicationID: 0x574c_4f47, version: 1,
      script: """
        CREATE TABLE meta(name TEXT NOT NULL, identity INTEGER NOT NULL);
        CREATE TABLE records(
          number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL,
          pid INTEGER NOT NULL, uid INTEGER NOT NULL, process INTEGER NOT NULL,
          message INTEGER, codec TEXT, type TEXT, version INTEGER, payload BLOB);
        CREATE TABLE cursors(name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID
        """,
      filling: name.map { ("INSERT INTO meta VALUES(?, 1 + (random() & 0x7fffffff))", .text($0)) })
  }
}
