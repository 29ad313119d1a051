// Bounds the size of a log.

internal import FoundationEssentials

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
