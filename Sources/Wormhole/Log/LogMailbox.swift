// Stores the records of a name in a database.

internal import DarwinNotifySupport
internal import FoundationEssentials
internal import Glibc

/// A mailbox of one database, `*.log`.
///
/// A record is a row of the table `records`; its number is the row id. The newest row is never
/// removed, so that no number is given out twice. A ping holds the number of the newest message
/// before it, which saves searching past many pings.
final class LogMailbox: Wormhole.Mailbox {
  let name: String
  private let directory: String
  private let store: SQLiteStore

  /// The path of the files that a transit of files would use for the name.
  private let filesPath: String
  private let trimming: LogTrimming

  /// The size of a batch, not counting its last record: large enough to make the overhead small.
  private static let maxBatchBytes = 4 << 20

  init(_ name: String, in directory: String, limits: LogLimits, durable: Bool) {
    self.name = name
    self.directory = directory
    trimming = LogTrimming(limits)
    let filesPath = "\(directory)/\(FileName(for: name).text)\(FileSuffix.mailbox)"
    self.filesPath = filesPath
    var file = Self.file(of: name, in: directory, durable: durable)
    file.mayCreate = { () throws(WormholeError) in
      try Self.refuseFiles(at: filesPath, of: name)
    }
    store = SQLiteStore(file, idle: .ofLogs)
  }

  // MARK: - Writing

  func append(_ record: Wormhole.Record) throws(WormholeError) -> UInt64 {
    let row = try LogRow(record)
    return try store.write { (log) throws(WormholeError) in
      let number = try row.insert(into: log)
      trimming.trim(log, after: number, row)
      return UInt64(clamping: number)
    }
  }

  func update<Failure: Error>(
    _ body: (Wormhole.NumberedRecord?) throws(Failure) -> Wormhole.Record?
  ) throws(WormholeError) -> Result<UInt64?, Failure> {
    try store.write { (log) throws(WormholeError) in
      let result = try log.transaction(.immediate) { () throws(UpdateError<Failure>) in
        try Self.append(to: log, body)
      }
      switch result {
      case .success(let (number, row)?):
        trimming.trim(log, after: number, row)
        return .success(UInt64(clamping: number))
      case .success(nil): return .success(nil)
      case .failure(.ofBody(let error)): return .failure(error)
      case .failure(.ofLog(let error)): throw error
      }
    }
  }

  /// Why an update has changed nothing.
  private enum UpdateError<Failure: Error>: Error {
    case ofBody(Failure)
    case ofLog(WormholeError)
  }

  /// Appends what a body makes of the newest message.
  private static func append<Failure: Error>(
    to log: SQLiteConnection,
    _ body: (Wormhole.NumberedRecord?) throws(Failure) -> Wormhole.Record?
  ) throws(UpdateError<Failure>) -> (Int64, LogRow)? {
    let newest: Wormhole.NumberedRecord?
    let record: Wormhole.Record?
    do throws(WormholeError) { newest = try lastMessage(in: log) } catch { throw .ofLog(error) }
    do throws(Failure) { record = try body(newest) } catch { throw .ofBody(error) }
    do throws(WormholeError) {
      guard let row = try record.map({ (record) throws(WormholeError) in try LogRow(record) })
      else { return nil }
      return (try row.insert(into: log), row)
    } catch { throw .ofLog(error) }
  }

  // MARK: - Reading

  func records(after number: UInt64, limit: Int) throws(WormholeError) -> Wormhole.RecordBatch {
    let none = Wormhole.RecordBatch([], hasMore: false)
    guard let number = Int64(exactly: number) else { return none }
    return try read { (log) throws(WormholeError) in
      let statement = try log.statement(LogRow.selectAfter)
      let fields: [SQLiteField] = [.integer(number), .integer(Int64(limit))]
      var batch = try statement.withFields(fields[...]) { () throws(WormholeError) in
        try Self.readRecords(of: statement, after: UInt64(number), limit: limit, path: log.path)
      }
      batch.identity = try Self.identity(of: log)
      return batch
    } ?? none
  }

  /// Reads the records before the first damage. If there are none, the damage is an error.
  private static func readRecords(
    of rows: SQLiteStatement, after number: UInt64, limit: Int, path: String
  ) throws(WormholeError) -> Wormhole.RecordBatch {
    var batch = Wormhole.RecordBatch([], hasMore: false)
    var bytes = 0
    do throws(WormholeError) {
      while bytes < maxBatchBytes, try rows.step() {
        let record = LogRow.record(in: rows, path: path)
        // The rows of a damaged file can have any order, or no numbers.
        guard record.number > batch.records.last?.number ?? number else {
          throw .damaged(path: path)
        }
        batch.records.append(record)
        bytes += LogRow.payloadBytes(in: rows)
      }
      batch.hasMore = batch.records.count == limit || bytes >= maxBatchBytes
    } catch .damaged where !batch.records.isEmpty {
      batch.hasMore = true
    }
    return batch
  }

  func lastMessage() throws(WormholeError) -> Wormhole.NumberedRecord? {
    try read { (log) throws(WormholeError) in try Self.lastMessage(in: log) } ?? nil
  }

  func identity() throws(WormholeError) -> UInt32 {
    try read { (log) throws(WormholeError) in try Self.identity(of: log) } ?? 0
  }

  private static func identity(of log: SQLiteConnection) throws(WormholeError) -> UInt32 {
    try log.integer(LogRow.selectIdentity).flatMap { UInt32(exactly: $0) } ?? 0
  }

  func lastNumber() throws(WormholeError) -> UInt64 {
    let number = try read { (log) throws(WormholeError) in
      try log.integer("SELECT max(number) FROM records") ?? 0
    }
    return UInt64(clamping: number ?? 0)
  }

  fileprivate static func lastMessage(
    in log: SQLiteConnection
  ) throws(WormholeError) -> Wormhole.NumberedRecord? {
    try log.rows(LogRow.selectNewestMessage) { (row) throws(WormholeError) in
      LogRow.record(in: row, path: log.path)
    }.first
  }

  // MARK: - Cursors

  func openCursor(_ cursor: String) throws(WormholeError) -> any Wormhole.MailboxCursor {
    guard !cursor.isEmpty else { throw .invalidIdentifier }
    return try LogCursor(cursor, of: name, in: directory, store: store)
  }

  func cursors() throws(WormholeError) -> [Wormhole.Cursor] {
    try read { (log) throws(WormholeError) in try LogCursor.list(in: log) } ?? []
  }

  func removeCursor(_ cursor: String) throws(WormholeError) {
    guard try cursors().contains(where: { ExactString($0.name) == ExactString(cursor) }) else {
      return
    }
    try LogCursor.remove(cursor, of: name, in: directory, store: store)
  }

  // MARK: - The file

  /// Runs a body that reads. Returns `nil` if there is no log.
  private func read<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    if let value = try store.read(body) { return value }
    try refuseFiles()
    return nil
  }

  /// Makes sure that the other processes do not use a transit of files for the name.
  private func refuseFiles() throws(WormholeError) {
    try Self.refuseFiles(at: filesPath, of: name)
  }

  private static func refuseFiles(at path: String, of name: String) throws(WormholeError) {
    guard access(path, F_OK) != 0 else {
      throw .otherTransit(name: name, used: "log", found: "file")
    }
  }
}

extension LogMailbox {
  /// Returns the names of the logs with a message.
  ///
  /// Foreign files do not count, whatever they are called. A log that cannot be read counts, under
  /// the name that its file name stands for.
  static func names(in directory: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return files.filter { $0.hasSuffix(FileSuffix.log) }.sorted().compactMap {
      name(of: $0, in: directory)
    }
  }

  private static func name(of fileName: String, in directory: String) -> String? {
    let file = SQLiteFile(directory: directory, name: fileName, schema: LogRow.schema(of: nil))
    do throws(WormholeError) {
      guard let log = try file.openForReading(), try lastMessage(in: log) != nil else { return nil }
      let name = try log.rows(LogRow.selectName) { row in row.field(0) }.first
      // A copy under another file name is not the log.
      return name.flatMap { String(field: $0) }.flatMap {
        FileName(for: $0).text + FileSuffix.log == fileName ? $0 : nil
      }
    } catch .foreign {
      return nil
    } catch {
      return FileName(text: String(fileName.dropLast(FileSuffix.log.count))).original
    }
  }

  /// For small messages: with pages of 4096 bytes an insert takes a quarter longer.
  private static let pageBytes = 1024

  private static func file(of name: String, in directory: String, durable: Bool) -> SQLiteFile {
    SQLiteFile(
      directory: directory, name: FileName(for: name).text + FileSuffix.log, isDurable: durable,
      schema: LogRow.schema(of: name), pageBytes: pageBytes, cacheKiB: 256)
  }
}
