// Bounds the size of a log.

internal import FoundationEssentials

/// How many records a log keeps, for how long.
struct LogLimits: Sendable, CustomStringConvertible {
  /// The number of records to keep at least.
  let count: Int64

  /// The time to keep a record at least, in nanoseconds.
  let age: Int64?

  /// Records are removed in batches: removing each by itself would cost a transaction.
  private static let largestBatch: Int64 = 1024

  init(count: Int, age: Duration?) {
    self.count = Int64(max(1, count))
    self.age = age.map { Int64(clamping: max(0, $0.attoseconds / 1_000_000_000)) }
  }

  var description: String {
    "\(count)\(age.map { ", \($0) ns" } ?? "")"
  }

  /// Whether records have to be removed after the record with a number was appended.
  func isBatchFull(at number: Int64) -> Bool {
    number % min(Self.largestBatch, max(1, count / 16)) == 0
  }

  /// The time before which records are outdated, in nanoseconds since 1970.
  var cutoff: Int64? {
    age.map { Date().nanoseconds.subtractingReportingOverflow($0).partialValue }
  }
}
