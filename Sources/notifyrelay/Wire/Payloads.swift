// Encodes the payloads of topics.
//
// A payload begins with a line of fields in ASCII, separated by blanks: the version, the serial
// number among all messages of its sender, then what stands with each type. A record has its bytes
// after that line, a presence further lines.

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
  /// The number that the mailbox of its origin gave it.
  var number: UInt64
  /// The number of the record that the origin published before it.
  var previous: UInt64
  /// Never absent or unreadable.
  var content: Wormhole.Content<Wormhole.Payload>
  var time: Int64
  var sender: Wormhole.Sender

  init?(_ numbered: Wormhole.NumberedRecord, previous: UInt64 = 0) {
    let record = numbered.record
    switch record.content {
    case .value, .ping, .cleared: break
    case .absent, .unreadable: return nil
    }
    (number, self.previous) = (numbered.number, previous)
    (content, time, sender) = (record.content, record.date.nanoseconds, record.sender)
  }

  /// The payload without version and serial number.
  var body: Data {
    let numbers = "\(number) \(previous) \(time) \(sender.pid) \(sender.uid)"
    switch content {
    case .value(let value):
      let (codec, type) = (Escaped.encode(value.codec), Escaped.encode(value.type))
      return Data("\(numbers) value \(value.version) :\(codec) :\(type)\n".utf8) + value.data
    case .ping: return Data("\(numbers) ping\n".utf8)
    case .cleared, .absent, .unreadable: return Data("\(numbers) cleared\n".utf8)
    }
  }

  init(_ fields: Fields) throws(PayloadError) {
    var fields = fields
    number = try fields.number()
    previous = try fields.number()
    // As exactly as it is stored, so that a record that comes again is recognized.
    time = Date(nanoseconds: try fields.number()).nanoseconds
    sender = Wormhole.Sender(pid: try fields.number(), uid: try fields.number())
    switch try fields.word() {
    case "value":
      let version: UInt32 = try fields.number()
      content = .value(
        Wormhole.Payload(
          codec: try fields.text(), type: try fields.text(), version: version,
          data: Data(fields.rest)))
    case "ping": content = .ping
    case "cleared": content = .cleared
    default: throw .malformed
    }
    guard number > previous else { throw .malformed }
  }

  /// The record as it is stored on another machine.
  func record(from origin: Origin) -> Wormhole.Record {
    let sender = Wormhole.Sender(pid: sender.pid, uid: sender.uid, process: origin.number)
    return Wormhole.Record(content, date: Date(nanoseconds: time), sender: sender)
  }
}

/// Whether an origin is there, and how far it has got with the logs.
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
  /// The last record that it has published of each log.
  var logs: [MessageAddress: UInt64] = [:]
  /// The last record that it has stored of each log of others.
  var stored: [Origin: [MessageAddress: UInt64]] = [:]

  /// The payload without version and serial number.
  var body: Data {
    var text = "\(state.rawValue) \(connected) :\(Escaped.encode(version))\n"
    for (address, number) in logs { text += "log \(address.fields) \(number)\n" }
    for (origin, addresses) in stored {
      for (address, number) in addresses {
        text += "stored \(origin) \(address.fields) \(number)\n"
      }
    }
    return Data(text.utf8)
  }

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
    while !fields.rest.isEmpty {
      fields = Fields(line: fields.rest)
      switch try fields.word() {
      case "log": logs[try fields.address()] = try fields.number()
      case "stored":
        guard let origin = Origin(try fields.word()) else { throw .malformed }
        stored[origin, default: [:]][try fields.address()] = try fields.number()
      default: break  // A later version may say more.
      }
    }
  }
}

extension MessageAddress {
  fileprivate var fields: String { ":\(Escaped.encode(group)) :\(Escaped.encode(name))" }
}

/// The fields of a line, one after the other.
struct Fields {
  /// The number of the message among all of its sender.
  private(set) var serial: UInt64 = 0

  private var words: ArraySlice<Substring>
  /// The bytes after the line: a slice, since a payload may have a million lines.
  let rest: Data

  /// Reads the first line of a payload. Its first field is the version.
  init(_ data: Data) throws(PayloadError) {
    self.init(line: data)
    let version: Int = try number()
    guard version == 1 else { throw version > 1 ? .newer : .malformed }
    serial = try number()
  }

  fileprivate init(line data: Data) {
    let end = data.firstIndex(of: UInt8(ascii: "\n")) ?? data.endIndex
    let line = String(decoding: data[..<end], as: UTF8.self)
    // No line has that many fields, but it may have a million blanks.
    let words = line.utf8.split(
      separator: UInt8(ascii: " "), maxSplits: 31, omittingEmptySubsequences: false)
    self.words = words.map { Substring($0) }[...]
    rest = data[end...].dropFirst()
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

  mutating func address() throws(PayloadError) -> MessageAddress {
    let group = try text()
    return MessageAddress(group: group, name: try text())
  }
}

extension Date {
  /// Nanoseconds since 1970, as far as a date is exact.
  var nanoseconds: Int64 { Int64(exactly: (timeIntervalSince1970 * 1e9).rounded()) ?? 0 }

  init(nanoseconds: Int64) {
    self.init(timeIntervalSince1970: Double(nanoseconds) / 1e9)
  }

  /// Now, in nanoseconds since 1970.
  static var nowNanoseconds: Int64 { Date().nanoseconds }
}
