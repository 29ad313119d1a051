// Keeps the letters of a name in a database.

internal import DarwinNotify
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
  private let lastLook = Locked<ContinuousClock.Instant?>(nil)

  /// How often it is looked for letters that are too old: that costs a transaction.
  private static let timeBetweenLooks = Duration.seconds(1)

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

  /// Takes away what need not be kept. If that fails, or another process is writing, it is left to
  /// a later letter: this one is in, and nobody has been told yet.
  private func trim(_ log: SQLiteConnection, after number: Int64) {
    let isTooMany = limits.isBatchFull(at: number) && number > limits.count
    let cutoff = isLookDue() ? limits.cutoff : nil
    guard isTooMany || cutoff != nil else { return }
    try? log.withoutWaiting { () throws(WormholeError) in
      if isTooMany { try log.run(LogRow.delete, .integer(number - limits.count)) }
      while let cutoff, let last = try log.integer(LogRow.newestOutdated, .integer(cutoff)) {
        try log.run(LogRow.delete, .integer(last))
        guard log.changedRowCount >= LogRow.outdatedLength / 2 else { return }
      }
    }
  }

  private func isLookDue() -> Bool {
    guard limits.age != nil else { return false }
    let now = ContinuousClock.now
    return lastLook.withLock { last in
      if let last, now - last < Self.timeBetweenLooks { return false }
      last = now
      return true
    }
  }

  // MARK: - Reading

  func letters(after number: UInt64, limit: Int) throws(WormholeError) -> LetterBatch {
    let none = LetterBatch([], hasMore: false)
    guard let number = Int64(exactly: number) else { return none }
    return try store.read { (log) throws(WormholeError) in
      let statement = try log.statement(LogRow.selectAfter)
      let fields: [SQLiteField] = [.integer(number), .integer(Int64(limit))]
      var batch = try statement.withFields(fields[...]) { () throws(WormholeError) in
        try Self.readLetters(of: statement, after: UInt64(number), limit: limit, path: log.path)
      }
      batch.identity = try Self.identity(of: log)
      return batch
    } ?? none
  }

  /// Reads the letters before the first place that is damaged. If there is none, that is an error.
  private static func readLetters(
    of rows: SQLiteStatement, after number: UInt64, limit: Int, path: String
  ) throws(WormholeError) -> LetterBatch {
    var batch = LetterBatch([], hasMore: false)
    var bytes = 0
    do throws(WormholeError) {
      while bytes < mostBytesAtATime, try rows.step() {
        let letter = LogRow.letter(in: rows, path: path)
        // The rows of a damaged file can have any order, or no numbers.
        guard letter.number > batch.letters.last?.number ?? number else {
          throw .damaged(path: path)
        }
        batch.letters.append(letter)
        bytes += LogRow.payloadBytes(in: rows)
      }
      batch.hasMore = batch.letters.count == limit || bytes >= mostBytesAtATime
    } catch .damaged where !batch.letters.isEmpty {
      batch.hasMore = true
    }
    return batch
  }

  func lastMessage() throws(WormholeError) -> NumberedLetter? {
    try store.find { (log) throws(WormholeError) in try Self.lastMessage(in: log) }
  }

  func identity() throws(WormholeError) -> UInt32 {
    try store.read { (log) throws(WormholeError) in try Self.identity(of: log) } ?? 0
  }

  private static func identity(of log: SQLiteConnection) throws(WormholeError) -> UInt32 {
    try log.integer(LogRow.selectIdentity).flatMap { UInt32(exactly: $0) } ?? 0
  }

  func lastNumber() throws(WormholeError) -> UInt64 {
    let number = try store.find { (log) throws(WormholeError) in
      try log.integer("SELECT max(number) FROM letters")
    }
    return UInt64(clamping: number ?? 0)
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
      // A copy under another name is not what it says.
      return String(field: name).flatMap { FileName(for: $0).text + suffix == fileName ? $0 : nil }
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
