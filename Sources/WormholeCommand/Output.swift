// Prints messages and values.

import DarwinNotifySupport
import FoundationEssentials
import Glibc
import Wormhole

/// How values are read and printed.
struct Output {
  let isJSON: Bool
  let isText: Bool

  /// Prints a line without buffering.
  static func line(_ text: String) {
    write(Data("\(text)\n".utf8))
  }

  /// Writes bytes, or ends the program.
  static func write(_ bytes: Data) {
    let error = bytes.withUnsafeBytes { writeAll($0, to: STDOUT_FILENO) }
    guard error == 0 else {
      complain("standard output: \(String(cString: strerror(error)))")
      exit(Status.failed)
    }
  }

  static func complain(_ text: String) {
    _ = Data("wormhole: \(text)\n".utf8).withUnsafeBytes { writeAll($0, to: STDERR_FILENO) }
  }

  // MARK: Values

  /// Prints the newest value of a name. Bytes that are not text are written as they are.
  func show(_ value: StoredValue) {
    guard value.codec == "raw" else { return Self.line(plain(value)) }
    Self.write(value.data)
  }

  /// Prints a record on one line. Without `--json`, only values are printed.
  func show(_ record: StoredRecord) {
    guard !isJSON else { return Self.line(object(record)) }
    switch record.content {
    case .value(let value): Self.line(plain(value))
    case .unreadable(let error): Self.complain("message \(record.number): \(error)")
    case .ping, .cleared: break
    }
  }

  /// A value on one line.
  private func plain(_ value: StoredValue) -> String {
    if isText, value.codec == "json",
      let text = try? JSONDecoder().decode(String.self, from: value.data)
    {
      return text
    }
    return isText ? text(value) : json(value)
  }

  private func text(_ value: StoredValue) -> String {
    String(validating: value.data, as: UTF8.self) ?? value.data.base64EncodedString()
  }

  /// A value as JSON on one line, or in base64 if it is not JSON.
  func json(_ value: StoredValue) -> String {
    guard value.codec == "json", JSONText.isValid(value.data) else {
      return JSONText.quote(value.data.base64EncodedString())
    }
    // Line ends can only be between the parts.
    return String(decoding: value.data, as: UTF8.self)
      .replacing("\r", with: " ").replacing("\n", with: " ")
  }

  // MARK: Objects

  /// A record as an object.
  func object(_ record: StoredRecord) -> String {
    var members = ["\"number\":\(record.number)", "\"time\":\(seconds(record.time))"]
    if let program = record.sender.program { members.append(member("sender", program)) }
    if record.sender.pid > 0 { members.append("\"pid\":\(record.sender.pid)") }
    if let machine = record.sender.machine { members.append(member("machine", machine)) }
    switch record.content {
    case .value(let value):
      members.append(member("codec", value.codec))
      if let type = value.type { members.append(member("type", type)) }
      members.append("\"value\":\(json(value))")
    case .ping: members.append(member("kind", "ping"))
    case .cleared: members.append(member("kind", "clear"))
    case .unreadable(let error): members.append(member("error", "\(error)"))
    }
    return "{\(members.joined(separator: ","))}"
  }

  func member(_ key: String, _ text: String) -> String {
    "\(JSONText.quote(key)):\(JSONText.quote(text))"
  }

  private func seconds(_ nanoseconds: Int64) -> String {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let digits = String(max(0, rest))
    return "\(seconds).\(String(repeating: "0", count: 9 - digits.count))\(digits)"
  }

  /// A name as a column shows it: quoted if it could be mistaken for something else.
  func column(_ name: String) -> String {
    let isPlain = name.unicodeScalars.allSatisfy { scalar in
      scalar.value > 0x20 && scalar.value != 0x7f && scalar != "\""
    }
    return isPlain ? name : JSONText.quote(name)
  }

  // MARK: Reading

  /// Encodes an argument, or standard input.
  func value(_ argument: String?, type: String? = nil) throws(Misuse) -> StoredValue {
    var data = argument.map { Data($0.utf8) } ?? Self.readStandardInput()
    if argument == nil, data.last == UInt8(ascii: "\n") { data.removeLast() }
    if isText {
      guard let text = String(validating: data, as: UTF8.self) else {
        throw Misuse(reason: "the text is not UTF-8")
      }
      data = Data(JSONText.quote(text).utf8)
    }
    guard JSONText.isValid(data) else {
      throw Misuse(reason: "the value is not JSON; for a text, add --text")
    }
    // Values passed by other programs have no version either; every reader accepts them.
    return StoredValue(codec: "json", type: type, data: data)
  }

  private static func readStandardInput() -> Data {
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while data.count <= StoredValue.maxBytes {
      let count = read(STDIN_FILENO, &buffer, buffer.count)
      guard count > 0 else { break }
      data.append(contentsOf: buffer[..<count])
    }
    return data
  }
}

/// JSON as text.
enum JSONText {
  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  /// Whether bytes are one JSON value.
  static func isValid(_ data: Data) -> Bool {
    (try? JSONDecoder().decode(Anything.self, from: data)) != nil
  }

  /// A text as a JSON string.
  static func quote(_ text: String) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // A text can always be encoded.
    return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
  }
}

/// The exit statuses.
enum Status {
  static let absent: CInt = 1
  static let failed: CInt = 2
}
