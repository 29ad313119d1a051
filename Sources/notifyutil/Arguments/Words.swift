// Reads the words of the command line.

/// The remaining arguments. A long option may have its value attached after an equals sign.
struct Words: Equatable {
  private var rest: ArraySlice<String>
  private var attached: String?

  init(_ words: [String]) {
    rest = words[...]
  }

  /// The next option. An attached value is kept until it is asked for.
  mutating func next() -> String? {
    guard let word = rest.popFirst() else { return nil }
    guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return word }
    attached = String(word[word.index(after: sign)...])
    return String(word[..<sign])
  }

  /// Whether the option has an attached value that was not asked for.
  var hasValueLeft: Bool { attached != nil }

  /// The value after the equals sign.
  mutating func attachedValue() -> String? {
    defer { attached = nil }
    return attached
  }

  /// The value of an option, attached or the next word.
  mutating func value() -> String? {
    attachedValue() ?? rest.popFirst()
  }

  /// The value of an option; `nil` if none is attached and the next word is an option.
  mutating func optionalValue() -> String? {
    if attached == nil, rest.first?.hasPrefix("-") ?? true { return nil }
    return value()
  }
}

extension CommandLine {
  /// The arguments. (`CommandLine.arguments` repairs invalid UTF-8, which would turn one name into
  /// another.)
  static var words: [String] {
    get throws(Ending) {
      var words: [String] = []
      for case let word? in UnsafeBufferPointer(start: unsafeArgv, count: Int(argc)).dropFirst() {
        guard let text = String(validatingCString: word) else {
          let mended = String(cString: word)
          throw .mistake("an argument is not UTF-8: \(mended)")
        }
        words.append(text)
      }
      return words
    }
  }
}

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
