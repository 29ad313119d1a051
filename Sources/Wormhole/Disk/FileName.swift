// Converts any text to the name of a file.

/// A file name for a text. No two texts share one.
///
/// Letters, digits, `-`, `_` and dots after the first character are kept; every other byte becomes
/// `%` with two hexadecimal digits. A name longer than 180 bytes is cut, and `%%` with a hash of
/// the whole text is added, 32 hexadecimal digits. So the name never leaves its directory, is never
/// hidden, and with a suffix stays below the limit of file systems, 255 bytes.
package struct FileName: Hashable, Sendable {
  /// The name of the file.
  package let text: String

  private static let maxBytes = 180
  private static let keptBytes = 140

  init(for text: String) {
    var name: [UInt8] = []
    for byte in text.utf8 {
      if Self.isPlain(byte, at: name.count) {
        name.append(byte)
      } else {
        name += [UInt8(ascii: "%"), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
      }
    }
    if name.count > Self.maxBytes {
      let hash = String(Self.hash(text), radix: 16)
      let zeros = String(repeating: "0", count: 32 - hash.count)
      name = name.prefix(Self.keptBytes) + Array("%%\(zeros)\(hash)".utf8)
    }
    self.text = String(decoding: name, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func isPlain(_ byte: UInt8, at position: Int) -> Bool {
    switch byte {
    case UInt8(ascii: "."): position > 0
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The 128-bit FNV-1a hash. It need not resist attacks: a process that chooses a name can write
  /// the files.
  private static func hash(_ text: String) -> UInt128 {
    var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    for byte in text.utf8 {
      hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b
    }
    return hash
  }
}
