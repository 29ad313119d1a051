// Reads a user info from JSON.

import DarwinNotify

/// Reads one object of JSON as a property list. `null`, which no property list has, is a mistake.
struct UserInfoReader: ~Copyable {
  /// The mistake in the text.
  struct Mistake: Error, Equatable {
    let text: String
  }

  private let builder = PropertyListBuilder()
  private let bytes: [UInt8]
  private var place = 0

  private init(_ text: String) {
    bytes = Array(text.utf8)
  }

  static func read(_ text: String) throws(Mistake) -> PropertyList {
    var reader = UserInfoReader(text)
    try reader.take("{")
    try reader.takeMembers(depth: 1)
    reader.skipBlanks()
    guard reader.place == reader.bytes.count else { throw reader.mistake("text after the object") }
    do throws(DarwinNotifyError) {
      return try reader.finish()
    } catch {
      throw Mistake(text: "\(error)")
    }
  }

  private consuming func finish() throws(DarwinNotifyError) -> PropertyList {
    try builder.finish()
  }

  // MARK: Values

  private mutating func takeValue(for key: String?, depth: Int) throws(Mistake) {
    skipBlanks()
    guard place < bytes.count else { throw mistake("expected a value") }
    switch bytes[place] {
    case UInt8(ascii: "{"), UInt8(ascii: "["): try takeContainer(for: key, depth: depth + 1)
    case UInt8(ascii: "\""): builder.set(.string(try takeString()), for: key)
    default: builder.set(try takeWord(), for: key)
    }
  }

  private mutating func takeContainer(for key: String?, depth: Int) throws(Mistake) {
    guard depth <= PropertyListBuilder.maxDepth else { throw mistake("nested too deeply") }
    if takeIf("{") {
      builder.beginDictionary(for: key)
      try takeMembers(depth: depth)
    } else {
      try take("[")
      builder.beginArray(for: key)
      try takeElements(depth: depth)
    }
    builder.end()
  }

  /// Takes what follows the brace, up to the one that closes it.
  private mutating func takeMembers(depth: Int) throws(Mistake) {
    if takeIf("}") { return }
    repeat {
      let key = try takeString()
      guard !key.utf8.contains(0) else { throw mistake("a key contains a NUL") }
      try take(":")
      try takeValue(for: key, depth: depth)
    } while takeIf(",")
    try take("}")
  }

  private mutating func takeElements(depth: Int) throws(Mistake) {
    if takeIf("]") { return }
    repeat { try takeValue(for: nil, depth: depth) } while takeIf(",")
    try take("]")
  }

  /// Takes a number or a truth value.
  private mutating func takeWord() throws(Mistake) -> PropertyListScalar {
    let start = place
    while place < bytes.count, Self.isPartOfWord(bytes[place]) { place += 1 }
    let word = String(decoding: bytes[start..<place], as: UTF8.self)
    switch word {
    case "true": return .bool(true)
    case "false": return .bool(false)
    default: break
    }
    guard word.wholeMatch(of: #/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/#) != nil,
      let number = Double(word), number.isFinite
    else {
      place = start
      throw mistake("not a property list value")
    }
    if let number = Int64(word) { return .integer(number) }
    if let number = UInt64(word) { return .unsigned(number) }
    return .real(number)
  }

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }

  // MARK: Strings

  private mutating func takeString() throws(Mistake) -> String {
    try take("\"")
    var text: [UInt16] = []
    var start = place
    while place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      guard bytes[place] >= 0x20 else { throw mistake("unescaped control character") }
      guard bytes[place] == UInt8(ascii: "\\") else {
        place += 1
        continue
      }
      text += String(decoding: bytes[start..<place], as: UTF8.self).utf16
      text.append(try takeEscape())
      start = place
    }
    text += String(decoding: bytes[start..<place], as: UTF8.self).utf16
    guard place < bytes.count else { throw mistake("unterminated string") }
    place += 1
    guard let string = String(validating: text, as: UTF16.self) else {
      throw mistake("unpaired surrogate")
    }
    return string
  }

  private mutating func takeEscape() throws(Mistake) -> UInt16 {
    let escapes: [UInt8: UInt16] = [
      UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "/"): 0x2F,
      UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13,
      UInt8(ascii: "t"): 9,
    ]
    let rest = bytes[(place + 1)...]
    if let letter = rest.first, let unit = escapes[letter] {
      place += 2
      return unit
    }
    let digits = rest.dropFirst().prefix(4)
    guard rest.first == UInt8(ascii: "u"), digits.count == 4,
      digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw mistake("invalid escape") }
    place += 6
    return unit
  }

  // MARK: Bytes

  private mutating func skipBlanks() {
    while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
  }

  private mutating func takeIf(_ mark: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard place < bytes.count, bytes[place] == UInt8(ascii: mark) else { return false }
    place += 1
    return true
  }

  private mutating func take(_ mark: Unicode.Scalar) throws(Mistake) {
    guard takeIf(mark) else { throw mistake("expected \(mark)") }
  }

  private func mistake(_ what: String) -> Mistake {
    Mistake(text: "\(what), at byte \(place + 1)")
  }
}

/// A distributed notification to post.
struct DistributedPost: Equatable {
  let name: NotificationName
  var object: String?
  var userInfo: UserInfo?
}

/// A user info with the JSON that it was read from.
struct UserInfo: Equatable {
  let text: String
  let list: PropertyList

  init(parsing text: String) throws(UserInfoReader.Mistake) {
    self.text = text
    list = try UserInfoReader.read(text)
  }

  static func == (left: Self, right: Self) -> Bool {
    left.text == right.text
  }
}
