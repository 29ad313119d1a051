// Identifies one user on one machine.

import Glibc

/// A number drawn once and kept in a file. A record that came from elsewhere names its origin as
/// the machine of its sender.
struct Origin: Hashable, Comparable, CustomStringConvertible {
  let number: UInt64

  static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  /// 16 hexadecimal digits.
  var description: String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  init(number: UInt64) {
    self.number = number
  }

  init?(_ text: some StringProtocol) {
    // Each number has only one spelling.
    let isWritten = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
      default: false
      }
    }
    guard isWritten, text.utf8.count == 16, let number = UInt64(text, radix: 16), number != 0
    else { return nil }
    self.number = number
  }

  /// Reads the origin of this user, or draws it at the first call.
  init(in directory: String) throws(Mistake) {
    let path = "\(directory)/origin"
    if let text = File.read(path) {
      guard let origin = Origin(text.prefix { $0 != "\n" }) else {
        throw Mistake("\(path) is damaged: restore it, or remove it to become a new origin")
      }
      self = origin
      return
    }
    guard errno == ENOENT else { throw Mistake.system("\(path) cannot be read") }
    self.init(number: .random(in: 1...UInt64.max))
    guard File.write("\(self)\n", to: path) else {
      throw Mistake.system("\(path) cannot be written")
    }
  }
}
