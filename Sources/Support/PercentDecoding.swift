// Decodes bytes that a text writes in hexadecimal.

extension StringProtocol {
  /// The bytes of a text in which `%` with two hexadecimal digits stands for one; `nil` if there is
  /// any other `%`.
  package var percentDecoded: [UInt8]? {
    guard utf8.contains(UInt8(ascii: "%")) else { return Array(utf8) }
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
        let decoded = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(decoded)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
