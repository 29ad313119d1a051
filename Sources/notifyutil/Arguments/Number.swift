// Reads numbers the way Apple's tool does.
import Glibc

enum Number {
  /// What `atoi` reads: the number that the text begins with, else 0; the nearest that fits.
  static func int(_ text: some StringProtocol) -> CInt {
    CInt(clamping: strtol(String(text), nil, 10))
  }

  /// What `atoll` reads, as the bits of a state.
  static func state(_ text: String) -> UInt64 {
    UInt64(bitPattern: Int64(strtoll(text, nil, 10)))
  }

  /// Whether the text begins with a number.
  static func begins(_ text: String) -> Bool {
    var end: UnsafeMutablePointer<CChar>?
    return text.withCString { start in
      _ = strtoll(start, &end, 10)
      return end != nil && end != UnsafeMutablePointer(mutating: start)
    }
  }

  /// Whether the text passes for a time: its first two bytes are looked at, each from one side.
  static func passesForTime(_ text: String) -> Bool {
    let bytes = text.utf8.prefix(2).map { Int8(bitPattern: $0) } + [0, 0]
    return bytes[0] >= Int8(ascii: "0") && bytes[1] <= Int8(ascii: "9")
  }

  static func isDigit(_ byte: UInt8?) -> Bool {
    guard let byte else { return false }
    return (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension Int8 {
  fileprivate init(ascii character: Unicode.Scalar) {
    self.init(bitPattern: UInt8(ascii: character))
  }
}
