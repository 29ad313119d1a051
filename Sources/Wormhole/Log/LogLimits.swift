// Bounds what a log keeps.

internal import Foundation

/// How much of a log is kept.
struct LogLimits: Sendable, CustomStringConvertible {
  /// How many letters to keep at least.
  let count: Int64

  /// How long to keep a letter at least, in nanoseconds.
  let age: Int64?

  /// Letters are taken away many at a time: one at a time each would cost a transaction.
  private static let largestBatch: Int64 = 1024

  init(count: Int, age: Duration?) {
    self.count = Int64(max(1, count))
    self.age = age.map { Int64(clamping: max(0, $0.attoseconds / 1_000_000_000)) }
  }

  var description: String {
    "\(count)\(age.map { ", \($0) ns" } ?? "")"
  }

  /// Whether letters have to be taken away once the letter of a number is in.
  func isBatchFull(at number: Int64) -> Bool {
    number % min(Self.largestBatch, max(1, count / 16)) == 0
  }

  /// The time that letters must be younger than, in nanoseconds since 1970.
  var cutoff: Int64? {
    age.map { Date().nanoseconds.subtractingReportingOverflow($0).partialValue }
  }
}
