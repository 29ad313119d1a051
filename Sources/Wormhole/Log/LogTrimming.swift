// Removes records that a log need not keep.

internal import DarwinNotifySupport
internal import FoundationEssentials

/// Applies the limits of a log.
final class LogTrimming: Sendable {
  private struct State {
    var lastSearch: ContinuousClock.Instant?

    /// The bytes that this process has appended since the file was last measured.
    var uncountedBytes = Int64.max
  }

  private let limits: LogLimits
  private let state = Locked(State())

  /// The pause between searches for outdated records, each of which costs a transaction.
  private static let timeBetweenSearches = Duration.seconds(1)

  /// The number of parts that are removed one after the other until the log is small enough.
  private static let partCount: Int64 = 32

  /// A file up to this size is not shrunk when the log is cleared.
  private static let smallBytes: Int64 = 64 << 10

  init(_ limits: LogLimits) {
    self.limits = limits
  }

  /// Removes records beyond the limits after a row was appended. If that fails, or another process
  /// is writing, a later record does it: this one is stored, and nobody has been notified yet.
  func trim(_ log: SQLiteConnection, after number: Int64, _ row: LogRow) {
    let isTooMany = limits.isBatchFull(at: number) && number > limits.count
    let cutoff = isSearchDue() ? limits.cutoff : nil
    let bytes = isCountDue(after: row) ? limits.bytes : nil
    guard isTooMany || cutoff != nil || bytes != nil || row.isClearing else { return }
    try? log.waiting(atMost: .zero) { () throws(WormholeError) in
      if row.isClearing { try shrink(log) }
      if isTooMany { try log.run(LogRow.delete, .integer(number - limits.count)) }
      if let bytes { try trim(log, to: bytes) }
      while let cutoff, let last = try log.integer(LogRow.newestOutdated, .integer(cutoff)) {
        try log.run(LogRow.delete, .integer(last))
        guard log.changedRowCount >= LogRow.outdatedLength / 2 else { return }
      }
    }
  }

  private func trim(_ log: SQLiteConnection, to bytes: Int64) throws(WormholeError) {
    guard try log.usedBytes() > bytes else { return }
    guard let first = try log.integer("SELECT min(number) FROM records"),
      let last = try log.integer("SELECT max(number) FROM records")
    else { return }
    let part = max(1, (last - first) / Self.partCount)
    for end in stride(from: first + part, through: last, by: Int(part)) {
      try log.run(LogRow.delete, .integer(end))
      guard try log.usedBytes() > bytes else { return }
    }
  }

  /// Returns the space of a cleared log to the file system.
  private func shrink(_ log: SQLiteConnection) throws(WormholeError) {
    guard try log.fileBytes() > Self.smallBytes else { return }
    try log.execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func isSearchDue() -> Bool {
    guard limits.age != nil else { return false }
    let now = ContinuousClock.now
    return state.withLock { state in
      if let last = state.lastSearch, now - last < Self.timeBetweenSearches { return false }
      state.lastSearch = now
      return true
    }
  }

  private func isCountDue(after row: LogRow) -> Bool {
    guard let limit = limits.uncountedBytes else { return false }
    return state.withLock { state in
      let bytes = state.uncountedBytes.addingReportingOverflow(row.bytes)
      state.uncountedBytes = bytes.overflow || bytes.partialValue > limit ? 0 : bytes.partialValue
      return state.uncountedBytes == 0
    }
  }
}

extension SQLiteConnection {
  /// The size of the file including everything committed.
  fileprivate func fileBytes() throws(WormholeError) -> Int64 {
    try bytes(of: "PRAGMA page_count")
  }

  /// The bytes of the pages in use.
  fileprivate func usedBytes() throws(WormholeError) -> Int64 {
    try fileBytes() - bytes(of: "PRAGMA freelist_count")
  }

  private func bytes(of pragma: String) throws(WormholeError) -> Int64 {
    try (integer(pragma) ?? 0) * (integer("PRAGMA page_size") ?? 0)
  }
}

/// The limits of a log: how many records it keeps, for how long, and in how many bytes.
struct LogLimits: Sendable, CustomStringConvertible {
  /// The number of records to keep at least.
  let count: Int64

  /// The time to keep a record at least, in nanoseconds.
  let age: Int64?

  /// The bytes of the file that records may use.
  let bytes: Int64?

  /// Records are removed in batches: removing each by itself would cost a transaction.
  private static let largestBatch: Int64 = 1024

  /// Fewer bytes than an empty log needs would leave no record.
  private static let minBytes: Int64 = 64 << 10

  init(count: Int, age: Duration?, bytes: Int?) {
    self.count = Int64(max(1, count))
    self.age = age.map { Int64(clamping: max(0, $0.attoseconds / 1_000_000_000)) }
    self.bytes = bytes.map { max(Self.minBytes, Int64($0)) }
  }

  var description: String {
    "\(count)\(age.map { ", \($0) ns" } ?? "")\(bytes.map { ", \($0) bytes" } ?? "")"
  }

  /// Whether records have to be removed after the record with a number was appended.
  func isBatchFull(at number: Int64) -> Bool {
    number % min(Self.largestBatch, max(1, count / 16)) == 0
  }

  /// How much may be appended before the bytes are counted again.
  var uncountedBytes: Int64? { bytes.map { $0 / 16 } }

  /// The time before which records are outdated, in nanoseconds since 1970.
  var cutoff: Int64? {
    age.map { Date().nanoseconds.subtractingReportingOverflow($0).partialValue }
  }
}
