// Parses numbers, only if the whole argument is one.

enum Number {
  /// A 64-bit number without a sign.
  static func natural(_ text: some StringProtocol) -> UInt64? {
    text.utf8.allSatisfy(isDigit) ? UInt64(text, radix: 10) : nil
  }

  /// The 64 bits of a state: decimal or after `0x`, up to 2^64 - 1, or negative down to -2^63.
  static func state(_ text: String) -> UInt64? {
    let isNegative = text.hasPrefix("-")
    let magnitude = isNegative ? text.dropFirst() : text[...]
    let digits = magnitude.dropFirst(2)
    let number =
      if magnitude.hasPrefix("0x") || magnitude.hasPrefix("0X") {
        digits.utf8.allSatisfy(isHexadecimal) ? UInt64(digits, radix: 16) : nil
      } else {
        natural(magnitude)
      }
    guard let number, isNegative else { return number }
    return number <= UInt64(Int64.min.magnitude) ? 0 &- number : nil
  }

  /// A positive number of seconds, with or without a fraction, up to a few centuries.
  static func seconds(_ text: String) -> Double? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isDigit) }),
      let seconds = Double(text), seconds > 0, seconds < 1e10
    else { return nil }
    return seconds
  }

  static func isDigit(_ byte: UInt8?) -> Bool {
    byte.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
}
