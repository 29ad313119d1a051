// Keeps the letters of a name in a database.

internal import Foundation

/// A mailbox of one database, `*.log`.
///
/// A letter is a row of the table `letters`, and its number is the number of the row. The newest
/// row stays whatever is taken away, so that no number is given out twice. A ping knows the newest
/// message before it: nobody has to search for that behind many pings.
final class LogMailbox: Mailbox {
  private let name: String
  private let directory: String
  private let limits: LogLimits
  private let store: SQLiteStore

  /// What is read at a time, but for one letter: enough that the way to the file does not count.
  private static let mostBytesAtATime = 4 << 20

  init(_ name: String, in directory: String, limits: LogLimits, durable: Bool) {
    self.name = name
    self.directory = directory
    self.limits = limits
    store = SQLiteStore(Self.file(of: name, in: directory, durable: durable))
  }

  // MARK: - Writing

  func append(_ letter: Letter) throws(WormholeError) -> UInt64 {
    let row = try LogRow(letter)
    return try store.write { (log) throws(WormholeError) in
      let number = try row.insert(into: log)
      trim(log, after: number)
      return UInt64(clamping: number)
    }
  }

  func update(_ body: (NumberedLetter?) throws -> Letter?) throws -> UInt64? {
    try store.write { (log) throws(WormholeError) in
      let result = try log.transaction(.immediate) { () throws -> Int64? in
        guard let letter = try body(try Self.lastMessage(in: log)) else { return nil }
        return try LogRow(letter).insert(into: log)
      }
      if case .success(let number?) = result { trim(log, after: number) }
      return result
    }.get().map { UInt64(clamping: $0) }
  }

  /// Takes away what need not be kept. If that fails it is left to a later letter: this one is in.
  private func trim(_ log: SQLiteConnection, after number: Int64) {
    do throws(WormholeError) {
      var floor = limits.isBatchFull(at: number) ? number - limits.count : 0
      if let cutoff = limits.cutoff, let oldest = try log.integer(LogRow.oldestTime),
        oldest < cutoff
      {
        floor = max(floor, (try log.integer(LogRow.firstSince, .integer(cutoff)) ?? number) - 1)
      }
      guard floor > 0 else { return }
      try log.run(LogRow.delete, .integer(floor))
    } catch {}
  }

  // MARK: - Reading

  func letters(after number: UInt64, limit: Int) throws(WormholeError) -> LetterBatch {
    let none = LetterBatch([], hasMore: false)
    guard let number = Int64(exactly: number) else { return none }
    return try store.read { (log) throws(WormholeError) in
      let statement = try log.statement(LogRow.selectAfter)
      let fields: [SQLiteField] = [.integer(number), .integer(Int64(limit))]
      return try statement.withFields(fields[...]) { () throws(WormholeError) in
        var letters: [NumberedLetter] = []
        var bytes = 0
        while bytes < Self.mostBytesAtATime, try statement.step() {
          letters.append(LogRow.letter(in: statement, path: log.path))
          bytes += LogRow.payloadBytes(in: statement)
        }
        let hasMore = letters.count == limit || bytes >= Self.mostBytesAtATime
        return LetterBatch(letters, hasMore: hasMore, identity: try Self.identity(of: log))
      }
    } ?? none
  }

  func lastMessage() throws(WormholeError) -> NumberedLetter? {
    try store.read { (log) throws(WormholeError) in try Self.lastMessage(in: log) } ?? nil
  }

  func identity() throws(WormholeError) -> UInt32 {
    try store.read { (log) throws(WormholeError) in try Self.identity(of: log) } ?? 0
  }

  private static func identity(of log: SQLiteConnection) throws(WormholeError) -> UInt32 {
    try log.integer(LogRow.selectIdentity).flatMap { UInt32(exactly: $0) } ?? 0
  }

  func lastNumber() throws(WormholeError) -> UInt64 {
    let number = try store.read { (log) throws(WormholeError) in
      try log.integer("SELECT max(number) FROM letters")
    }
    return UInt64(clamping: (number ?? 0) ?? 0)
  }

  fileprivate static func lastMessage(
    in log: SQLiteConnection
  ) throws(WormholeError) -> NumberedLetter? {
    try log.rows(LogRow.selectNewestMessage) { (row) throws(WormholeError) in
      LogRow.letter(in: row, path: log.path)
    }.first
  }

  // MARK: - Cursors

  func openCursor(_ cursor: String) throws(WormholeError) -> any MailboxCursor {
    guard !cursor.isEmpty else { throw .invalidIdentifier }
    return try LogCursor(cursor, of: name, in: directory, store: store)
  }
}

extension LogMailbox {
  /// Returns the names of the logs with a message. What cannot be read has no name.
  static func names(in directory: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return files.filter { $0.hasSuffix(suffix) }.sorted().compactMap { fileName in
      let file = SQLiteFile(directory: directory, name: fileName, schema: LogRow.schema(of: nil))
      guard let log = try? file.openForReading(), (try? lastMessage(in: log)) != nil,
        let name = try? log.rows(LogRow.selectName, make: { $0.field(0) }).first
      else { return nil }
      return String(field: name)
    }
  }

  private static let suffix = ".log"

  /// Most messages are small: with pages of 4096 bytes an insert takes a quarter longer.
  private static let pageBytes = 1024

  private static func file(of name: String, in directory: String, durable: Bool) -> SQLiteFile {
    SQLiteFile(
      directory: directory, name: FileName(for: name).text + suffix, isDurable: durable,
      schema: LogRow.schema(of: name), pageBytes: pageBytes)
  }
}
