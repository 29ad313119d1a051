// Encodes the payloads of topics.
//
// A payload begins with a line of fields in ASCII, separated by blanks: the version, the serial
// number among all messages of its sender, then what stands with each type. A record has its bytes
// after that line.

import FoundationEssentials
import Wormhole

/// Why a payload is ignored.
enum PayloadError: Error {
  case malformed
  case newer
}

/// How often an origin has posted a name, and the state that it has set.
struct NamePayload: Equatable {
  var count: UInt64
  /// Nanoseconds since 1970 of the last post.
  var posted: Int64
  var state: UInt64
  /// When the origin set the state, 0 if it never did.
  var stateSet: Int64

  /// The payload without version and serial number.
  var body: Data { Data("\(count) \(posted) \(state) \(stateSet)\n".utf8) }

  init(count: UInt64, posted: Int64, state: UInt64, stateSet: Int64) {
    (self.count, self.posted, self.state, self.stateSet) = (count, posted, state, stateSet)
  }

  init(_ fields: Fields) throws(PayloadError) {
    var fields = fields
    count = try fields.number()
    posted = try fields.number()
    state = try fields.number()
    stateSet = try fields.number()
    // Nobody has posted as often, and ours may have to go on from it.
    guard count < 1 << 63 else { throw .malformed }
  }
}

/// A record of a message name.
struct RecordPayload {
  /// Identifies the store of its origin, in which its number was given.
  var epoch: UInt64
  var number: UInt64
  /// The number of the record that the origin published before it.
  var previous: UInt64
  /// What is stored on another machine.
  var draft: RecordDraft

  init?(_ record: StoredRecord, of reader: RecordReader, keep: Int) {
    if case .unreadable = record.content { return nil }
    (epoch, number, previous) = (reader.row.epoch, record.number, reader.published)
    draft = RecordDraft(record.content, keep: keep, sender: record.sender, time: record.time)
  }

  /// The payload without version and serial number.
  var body: Data {
    let (sender, keep) = (draft.sender, draft.keep ?? 1)
    let fields =
      "\(epoch) \(number) \(previous) \(keep) \(draft.time ?? 0) \(sender.pid) "
      + Escaped.field(sender.program)
    switch draft.content {
    case .value(let value):
      let version = value.version.map { "\($0)" } ?? "-"
      let line =
        "\(fields) value \(version) \(Escaped.field(value.codec)) \(Escaped.field(value.type))"
      return Data("\(line)\n".utf8) + value.data
    case .ping: return Data("\(fields) ping\n".utf8)
    case .cleared, .unreadable: return Data("\(fields) cleared\n".utf8)
    }
  }

  init(_ fields: Fields) throws(PayloadError) {
    var fields = fields
    (epoch, number, previous) = (try fields.number(), try fields.number(), try fields.number())
    let (keep, time): (Int, Int64) = (try fields.number(), try fields.number())
    let sender = StoredSender(pid: try fields.number(), program: try fields.optionalText())
    let content: StoredContent
    switch try fields.word() {
    case "value":
      let version: UInt32? = try fields.optionalNumber()
      content = .value(
        StoredValue(
          codec: try fields.text(), type: try fields.optionalText(), version: version,
          data: Data(fields.rest)))
    case "ping": content = .ping
    case "cleared": content = .cleared
    default: throw .malformed
    }
    draft = RecordDraft(content, keep: keep, sender: sender, time: time)
    // Later ones must have room behind them.
    guard number > previous, number < 1 << 40, keep > 0, (0..<1 << 62).contains(time) else {
      throw .malformed
    }
  }

  /// The record as it is stored on another machine.
  func record(from origin: Origin, isTooLarge: Bool) -> ForeignRecord {
    var draft = draft
    draft.sender.machine = "\(origin)"
    var isTooLarge = isTooLarge
    if case .value(let value) = draft.content, value.data.count > StoredValue.maxBytes {
      isTooLarge = true
    }
    return ForeignRecord(
      number, after: previous, of: "\(origin)", epoch: epoch, draft: isTooLarge ? nil : draft)
  }
}

/// How far an origin's records of a name have got here: it must publish again those after it.
struct AskPayload {
  var origin: Origin
  var epoch: UInt64
  var number: UInt64

  /// The payload without version and serial number.
  var body: Data { Data("\(origin) \(epoch) \(number)\n".utf8) }

  init(origin: Origin, epoch: UInt64, number: UInt64) {
    (self.origin, self.epoch, self.number) = (origin, epoch, number)
  }

  init(_ fields: Fields) throws(PayloadError) {
    var fields = fields
    guard let origin = Origin(try fields.word()) else { throw .malformed }
    (self.origin, epoch, number) = (origin, try fields.number(), try fields.number())
  }
}

/// Whether an origin is there.
struct PresencePayload {
  enum State: String, Codable {
    /// It is connected, and does not know yet what the broker keeps.
    case joining
    /// It has published its names.
    case online
    case offline
  }

  var state: State
  /// When it connected, nanoseconds since 1970.
  var connected: Int64
  var version: String

  /// The payload without version and serial number.
  var body: Data { Data("\(state.rawValue) \(connected) :\(Escaped.encode(version))\n".utf8) }

  init(_ state: State, connected: Int64, version: String) {
    (self.state, self.connected, self.version) = (state, connected, version)
  }

  init(_ fields: Fields) throws(PayloadError) {
    var fields = fields
    guard let state = State(rawValue: String(try fields.word())) else { throw .malformed }
    self.state = state
    connected = try fields.number()
    version = try fields.text()
    // One is kept for each of many machines.
    guard version.utf8.count <= 255 else { throw .malformed }
  }
}

/// The fields of a line, one after the other.
struct Fields {
  /// The number of the message among all of its sender.
  private(set) var serial: UInt64 = 0

  private var words: ArraySlice<Substring>
  /// The bytes after the line.
  let rest: Data

  /// Reads the first line of a payload. Its first field is the version.
  init(_ data: Data) throws(PayloadError) {
    let end = data.firstIndex(of: UInt8(ascii: "\n")) ?? data.endIndex
    let line = String(decoding: data[..<end], as: UTF8.self)
    // No line has that many fields, but it may have a million blanks.
    let words = line.utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 31, omittingEmptySubsequences: false)
    self.words = words.map { Substring($0) }[...]
    rest = data[end...].dropFirst()
    let version: Int = try number()
    guard version == 1 else { throw version > 1 ? .newer : .malformed }
    serial = try number()
  }

  mutating func word() throws(PayloadError) -> Substring {
    guard let word = words.popFirst() else { throw .malformed }
    return word
  }

  mutating func number<Number: FixedWidthInteger>() throws(PayloadError) -> Number {
    let word = try word()
    guard let number = Number(word), word.first != "+" else { throw .malformed }
    return number
  }

  mutating func text() throws(PayloadError) -> String {
    let word = try word()
    guard word.first == ":" else { throw .malformed }
    if word == ":" { return "" }
    guard let text = Escaped.decode(word.dropFirst()) else { throw .malformed }
    return text
  }

  /// What is not there is written as a hyphen.
  mutating func optionalNumber<Number: FixedWidthInteger>() throws(PayloadError) -> Number? {
    try isAbsent() ? nil : number()
  }

  mutating func optionalText() throws(PayloadError) -> String? {
    try isAbsent() ? nil : text()
  }

  private mutating func isAbsent() throws(PayloadError) -> Bool {
    guard words.first == "-" else { return false }
    _ = try word()
    return true
  }
}

extension Date {
  /// Now, in nanoseconds since 1970.
  static var nowNanoseconds: Int64 { Int64((Date().timeIntervalSince1970 * 1e9).rounded()) }
}
