// Turns letters into rows of a log.

internal import Foundation

/// A letter on its way into a log.
struct LogRow {
  private let kind: Kind
  private let payload: Payload?
  private let time: Int64
  private let sender: Sender

  /// What stands in the column `kind`.
  private enum Kind: Int64 {
    case message = 1
    case ping = 2
    case cleared = 3
  }

  init(_ letter: Letter) throws(WormholeError) {
    (kind, payload) =
      switch letter.content {
      case .message(let payload): (.message, payload)
      case .ping: (.ping, nil)
      case .cleared: (.cleared, nil)
      case .unreadable(let error): throw error
      }
    time = letter.date.nanoseconds
    sender = letter.sender
  }

  // MARK: - Writing

  /// Puts the row at the end of a log. Returns its number.
  func insert(into log: SQLiteConnection) throws(WormholeError) -> Int64 {
    switch kind {
    case .message: try insertMessage(into: log)
    case .ping: try log.run(Self.insertPing, .integer(time), pid, uid)
    case .cleared:
      if log.isInTransaction {
        try clear(log)
      } else {
        try log.transaction(.immediate) { () throws(WormholeError) in try clear(log) }.get()
      }
    }
    return log.lastInsertedRow
  }

  private var pid: SQLiteField { .integer(Int64(sender.pid)) }
  private var uid: SQLiteField { .integer(Int64(sender.uid)) }

  /// One statement, which is a transaction by itself: there is no cheaper one.
  private func insertMessage(into log: SQLiteConnection) throws(WormholeError) {
    guard let payload else { return }
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
    let last = try log.integer("SELECT max(number) FROM letters") ?? 0
    try log.run("DELETE FROM letters")
    try log.run(Self.insertCleared, .integer(last &+ 1), .integer(time), pid, uid)
  }

  // MARK: - Reading

  /// Makes the letter of a row of ``selectAfter`` or ``selectNewestMessage``. Somebody else may
  /// have written it: it is taken for nothing before it is looked at.
  static func letter(in row: SQLiteStatement, path: String) -> NumberedLetter {
    let number = row.integer(0).flatMap { UInt64(exactly: $0) } ?? 0
    let pid = row.integer(3).flatMap { Int32(exactly: $0) }
    let uid = row.integer(4).flatMap { UInt32(exactly: $0) }
    let time = row.integer(2)
    let isSigned = pid != nil && uid != nil && time != nil
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
    guard case .text(let codec) = row.field(5), case .text(let type) = row.field(6),
      let version = row.integer(7).flatMap({ UInt32(exactly: $0) }),
      case .blob(let data) = row.field(payloadColumn)
    else { return .unreadable(.damaged(path: path)) }
    return .message(Payload(codec: codec, type: type, version: version, data: data))
  }
}

extension LogRow {
  // MARK: - Statements

  private static let insertMessage = """
    INSERT INTO letters(kind, time, pid, uid, codec, type, version, payload)
    VALUES(1, ?, ?, ?, ?, ?, ?, ?)
    """

  private static let insertPing = """
    INSERT INTO letters(kind, time, pid, uid, message) VALUES(2, ?, ?, ?, \(newestMessage))
    """

  private static let insertCleared = """
    INSERT INTO letters(number, kind, time, pid, uid) VALUES(?, 3, ?, ?, ?)
    """

  private static let columns = "number, kind, time, pid, uid, codec, type, version, payload"

  /// The letters behind a number, up to a limit.
  static let selectAfter = """
    SELECT \(columns) FROM letters WHERE number > ? ORDER BY number LIMIT ?
    """

  /// The newest message, if there is one.
  static let selectNewestMessage = "SELECT \(columns) FROM letters WHERE number = \(newestMessage)"

  /// The time of the first letter.
  static let oldestTime = "SELECT time FROM letters ORDER BY number LIMIT 1"

  /// The first letter that is not older than a time.
  static let firstSince = "SELECT number FROM letters WHERE time >= ? ORDER BY number LIMIT 1"

  /// Takes away what is not behind a number. The newest message stays.
  static let delete = "DELETE FROM letters WHERE number <= ? AND number IS NOT \(newestMessage)"

  static let selectName = "SELECT name FROM meta"

  static let selectIdentity = "SELECT identity FROM meta"

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
