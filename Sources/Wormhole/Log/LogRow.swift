// Turns letters into rows of a log.

internal import Foundation

/// A letter on its way into a log.
struct LogRow {
  private let content: Content
  private let time: Int64
  private let sender: Sender

  private enum Content {
    case message(Payload)
    case ping
    case cleared
  }

  /// What stands in the column `kind`.
  private enum Kind: Int64 {
    case message = 1
    case ping = 2
    case cleared = 3
  }

  /// How many bytes the names of a codec and of a type may have.
  private static let longestName = Int(UInt16.max)

  init(_ letter: Letter) throws(WormholeError) {
    switch letter.content {
    case .message(let payload):
      let bytes = max(payload.codec.utf8.count, payload.type.utf8.count)
      guard bytes <= Self.longestName else {
        throw .tooLarge(bytes: bytes, limit: Self.longestName)
      }
      content = .message(payload)
    case .ping: content = .ping
    case .cleared: content = .cleared
    case .unreadable(let error): throw error
    }
    time = letter.date.nanoseconds
    sender = letter.sender
  }

  // MARK: - Writing

  /// Puts the row at the end of a log. Returns its number.
  func insert(into log: SQLiteConnection) throws(WormholeError) -> Int64 {
    do throws(WormholeError) {
      switch content {
      case .message(let payload): try insert(payload, into: log)
      case .ping: try log.run(Self.insertPing, .integer(time), pid, uid)
      case .cleared:
        if log.isInTransaction {
          try clear(log)
        } else {
          try log.transaction(.immediate) { () throws(WormholeError) in try clear(log) }.get()
        }
      }
    } catch .database(sqliteHasOtherType, _) {
      // There is no number behind the last.
      throw .damaged(path: log.path)
    }
    return log.lastInsertedRow
  }

  private var pid: SQLiteField { .integer(Int64(sender.pid)) }
  private var uid: SQLiteField { .integer(Int64(sender.uid)) }

  /// One statement, which is a transaction by itself: there is no cheaper one.
  private func insert(_ payload: Payload, into log: SQLiteConnection) throws(WormholeError) {
    let statement = try log.statement(Self.insertMessage)
    defer { statement.reset() }
    try statement.bind(time, at: 1)
    try statement.bind(Int64(sender.pid), at: 2)
    try statement.bind(Int64(sender.uid), at: 3)
    try statement.bind(payload.codec, at: 4)
    try statement.bind(payload.type, at: 5)
    try statement.bind(Int64(payload.version), at: 6)
    try statement.withBlob(payload.data, at: 7) { () throws(WormholeError) in
      defer { statement.reset() }
      _ = try statement.step()
    }
  }

  private func clear(_ log: SQLiteConnection) throws(WormholeError) {
    // The number of the news is found before the letters go.
    try log.run(Self.insertCleared, .integer(time), pid, uid)
    try log.run("DELETE FROM letters WHERE number < ?", .integer(log.lastInsertedRow))
  }

  // MARK: - Reading

  /// Makes the letter of a row of ``selectAfter`` or ``selectNewestMessage``. Somebody else may
  /// have written it: it is taken for nothing before it is looked at.
  static func letter(in row: SQLiteStatement, path: String) -> NumberedLetter {
    let number = row.integer(0).flatMap { UInt64(exactly: $0) } ?? 0
    let pid = row.integer(3).flatMap { Int32(exactly: $0) }
    let uid = row.integer(4).flatMap { UInt32(exactly: $0) }
    let time = row.integer(2)
    let isSigned = number > 0 && pid != nil && uid != nil && time != nil
    let content = isSigned ? content(of: row, path: path) : .unreadable(.damaged(path: path))
    let sender = Sender(pid: pid ?? 0, uid: uid ?? 0)
    let date = Date(nanoseconds: time ?? 0)
    return NumberedLetter(number: number, letter: Letter(content, date: date, sender: sender))
  }

  static func payloadBytes(in row: SQLiteStatement) -> Int {
    row.byteCount(payloadColumn)
  }

  private static let payloadColumn: Int32 = 8

  private static func content(of row: SQLiteStatement, path: String) -> Letter.Content {
    switch row.integer(1).flatMap(Kind.init) {
    case .message: message(in: row, path: path)
    case .ping: .ping
    case .cleared: .cleared
    case nil: .unreadable(.damaged(path: path))
    }
  }

  private static func message(in row: SQLiteStatement, path: String) -> Letter.Content {
    let bytes = payloadBytes(in: row)
    guard bytes <= MessageLimits.payloadBytes else {
      return .unreadable(.tooLarge(bytes: bytes, limit: MessageLimits.payloadBytes))
    }
    guard max(row.byteCount(5), row.byteCount(6)) <= longestName,
      case .text(let codec) = row.field(5), case .text(let type) = row.field(6),
      let version = row.integer(7).flatMap({ UInt32(exactly: $0) }),
      case .blob(let data) = row.field(payloadColumn)
    else { return .unreadable(.damaged(path: path)) }
    return .message(Payload(codec: codec, type: type, version: version, data: data))
  }
}

extension LogRow {
  // MARK: - Statements

  private static let insertMessage = """
    INSERT INTO letters(number, kind, time, pid, uid, codec, type, version, payload)
    VALUES(\(nextNumber), 1, ?, ?, ?, ?, ?, ?, ?)
    """

  private static let insertPing = """
    INSERT INTO letters(number, kind, time, pid, uid, message)
    VALUES(\(nextNumber), 2, ?, ?, ?, \(newestMessage))
    """

  private static let insertCleared = """
    INSERT INTO letters(number, kind, time, pid, uid) VALUES(\(nextNumber), 3, ?, ?, ?)
    """

  private static let columns = "number, kind, time, pid, uid, codec, type, version, payload"

  /// The letters behind a number, up to a limit.
  static let selectAfter = """
    SELECT \(columns) FROM letters WHERE number > ? ORDER BY number LIMIT ?
    """

  /// The newest message, if there is one.
  static let selectNewestMessage = "SELECT \(columns) FROM letters WHERE number = \(newestMessage)"

  /// How many letters ``newestOutdated`` looks at.
  static let outdatedLength: Int64 = 1024

  /// The newest of the oldest letters that is older than a time. The clock of a sender may have
  /// been ahead.
  static let newestOutdated = """
    SELECT max(number) FROM (SELECT number, time FROM letters ORDER BY number
    LIMIT \(outdatedLength)) WHERE time < ?
    """

  /// Takes away what is not behind a number. The newest message stays.
  static let delete = "DELETE FROM letters WHERE number <= ? AND number IS NOT \(newestMessage)"

  static let selectName = "SELECT name FROM meta"

  static let selectIdentity = "SELECT identity FROM meta"

  /// The number behind the last; nothing for the first, which SQLite makes 1. Behind the greatest
  /// there is none: SQLite by itself would take any that is free.
  private static let nextNumber = """
    (SELECT 1 + max(number, 0) FROM letters ORDER BY number DESC LIMIT 1)
    """

  private static let newestMessage = """
    (SELECT CASE kind WHEN 2 THEN message WHEN 3 THEN NULL ELSE number END
    FROM letters ORDER BY number DESC LIMIT 1)
    """

  /// What is in the file of a name. Without a name it can only be checked.
  static func schema(of name: String?) -> SQLiteSchema {
    SQLiteSchema(
      applicationID: 0x574c_4f47, version: 1,
      script: """
        CREATE TABLE meta(name TEXT NOT NULL, identity INTEGER NOT NULL);
        CREATE TABLE letters(
          number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL,
          pid INTEGER NOT NULL, uid INTEGER NOT NULL, message INTEGER,
          codec TEXT, type TEXT, version INTEGER, payload BLOB);
        CREATE TABLE cursors(name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID
        """,
      filling: name.map { ("INSERT INTO meta VALUES(?, 1 + (random() & 0x7fffffff))", .text($0)) })
  }
}
