// Converts dates to the form used in files.

internal import FoundationEssentials

extension Date {
  init(nanoseconds: Int64) {
    self.init(timeIntervalSince1970: TimeInterval(nanoseconds) / 1e9)
  }

  /// Nanoseconds since 1970. A date outside that range becomes the nearest one inside.
  var nanoseconds: Int64 {
    Int64(exactly: (timeIntervalSince1970 * 1e9).rounded())
      ?? (timeIntervalSince1970 < 0 ? .min : .max)
  }
}
