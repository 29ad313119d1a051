// Decodes the packets of MQTT 5 that a broker sends.

import FoundationEssentials

/// A packet from the broker.
enum ReceivedPacket {
  case accepted(BrokerLimits)
  /// The reason for which the broker does not accept the connection.
  case refused(UInt8)
  /// A message, and the number with which to confirm it.
  case message(Message, UInt16?)
  case published(UInt16, UInt8)
  case subscribed([UInt8])
  case unsubscribed
  case pong
  case disconnected(UInt8)
}

/// A message from the broker.
struct Message {
  let topic: String
  let payload: Data
  /// Whether the broker had kept it before we subscribed.
  let isRetained: Bool
  /// Whether the rest of the payload was too long to be kept.
  let isCut: Bool
}

/// The limits that the broker sets for us.
struct BrokerLimits {
  var unconfirmed = 65_535
  var packetBytes = Packet.maxBytes
  var hasQoS1 = true
  var retains = true
  /// In seconds.
  var keepAlive: Int?
}

/// The broker, or somebody on the line, sent something that is not an MQTT 5 packet.
struct MalformedPacket: Error {}

/// Cuts what arrives into packets. Nothing that arrives makes it use more memory than `maxBytes`
/// and the last bytes that were read: of a longer message, only the beginning is kept.
struct PacketReader {
  private let maxBytes: Int
  private var bytes: [UInt8] = []
  private var start = 0
  /// A message of which only the beginning is kept, and how much is still to be skipped.
  private var long: (packet: ReceivedPacket, rest: Int)?

  /// The longest topic, and the beginning of a payload.
  private static let leastBytes = 128 << 10

  init(maxPayload: Int) {
    maxBytes = maxPayload + Self.leastBytes
  }

  private var available: Int { bytes.count - start }

  mutating func append(_ new: ArraySlice<UInt8>) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes += new
  }

  /// Returns the next packet, `nil` if it has not arrived completely.
  mutating func next() throws(MalformedPacket) -> ReceivedPacket? {
    if long != nil { return nextLong() }
    guard let (type, length, headerBytes) = try header() else { return nil }
    let kept = min(length, maxBytes)
    guard kept == length || type >> 4 == 3 else { throw MalformedPacket() }
    guard available >= headerBytes + kept else { return nil }
    var body = Cursor(bytes[(start + headerBytes)...].prefix(kept))
    start += headerBytes + kept
    let packet = try Self.parse(type, &body, isCut: kept < length)
    guard kept < length else { return packet }
    long = (packet, length - kept)
    return nextLong()
  }

  private mutating func nextLong() -> ReceivedPacket? {
    guard let (packet, rest) = long else { return nil }
    let skipped = min(rest, available)
    start += skipped
    long = skipped < rest ? (packet, rest - skipped) : nil
    return skipped < rest ? nil : packet
  }

  private func header() throws(MalformedPacket) -> (type: UInt8, length: Int, bytes: Int)? {
    var length = 0
    for (index, byte) in bytes[start...].dropFirst().prefix(4).enumerated() {
      length |= Int(byte & 0x7F) << (7 * index)
      if byte < 0x80 { return (bytes[start], length, index + 2) }
    }
    guard available < 5 else { throw MalformedPacket() }
    return nil
  }

  private static func parse(
    _ type: UInt8, _ body: inout Cursor, isCut: Bool
  ) throws(MalformedPacket) -> ReceivedPacket {
    switch type >> 4 {
    case 2: return try connected(&body)
    case 3: return try message(type & 15, &body, isCut: isCut)
    case 4:
      let identifier = try body.number(2)
      return .published(UInt16(identifier), body.isAtEnd ? 0 : try body.byte())
    case 9:
      _ = try body.number(2)
      _ = try body.properties()
      return .subscribed(Array(body.rest))
    case 11: return .unsubscribed
    case 13: return .pong
    case 14: return .disconnected(body.isAtEnd ? 0 : try body.byte())
    default: throw MalformedPacket()
    }
  }

  private static func message(
    _ flags: UInt8, _ body: inout Cursor, isCut: Bool
  ) throws(MalformedPacket) -> ReceivedPacket {
    let topic = String(decoding: try body.take(try body.number(2)), as: UTF8.self)
    let quality = flags >> 1 & 3
    guard quality < 2 else { throw MalformedPacket() }  // we did not subscribe with QoS 2
    let identifier = quality == 1 ? UInt16(try body.number(2)) : nil
    guard identifier != 0 else { throw MalformedPacket() }
    var payload = Data()
    // None is needed here. They may be all that was kept of a message.
    if !isCut {
      _ = try body.properties()
      payload = Data(body.rest)
    } else if (try? body.properties()) != nil {
      payload = Data(body.rest)
    }
    return .message(
      Message(topic: topic, payload: payload, isRetained: flags & 1 != 0, isCut: isCut),
      identifier)
  }

  private static func connected(_ body: inout Cursor) throws(MalformedPacket) -> ReceivedPacket {
    _ = try body.byte()
    let reason = try body.byte()
    guard reason == 0 else { return .refused(reason) }
    var properties = try body.properties()
    var limits = BrokerLimits()
    while !properties.isAtEnd {
      let identifier = try properties.byte()
      let value = try properties.value(of: identifier)
      switch identifier {
      case 0x13: limits.keepAlive = value
      case 0x21: limits.unconfirmed = value
      case 0x24: limits.hasQoS1 = value > 0
      case 0x25: limits.retains = value > 0
      case 0x27: limits.packetBytes = min(value, Packet.maxBytes)
      default: break
      }
    }
    guard limits.unconfirmed > 0, limits.packetBytes > 0 else { throw MalformedPacket() }
    return .accepted(limits)
  }
}

/// Reads a packet from its beginning. Whatever the packet contains, nothing beyond it is read.
private struct Cursor {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ count: Int) throws(MalformedPacket) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw MalformedPacket() }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func byte() throws(MalformedPacket) -> UInt8 {
    guard let byte = rest.popFirst() else { throw MalformedPacket() }
    return byte
  }

  /// A number of a few bytes, the most significant first.
  mutating func number(_ count: Int) throws(MalformedPacket) -> Int {
    try take(count).reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func length() throws(MalformedPacket) -> Int {
    var length = 0
    for index in 0..<4 {
      let byte = try byte()
      length |= Int(byte & 0x7F) << (7 * index)
      if byte < 0x80 { return length }
    }
    throw MalformedPacket()
  }

  mutating func properties() throws(MalformedPacket) -> Cursor {
    Cursor(try take(try length()))
  }

  /// The value of a property of CONNACK; 0 for one that is a text (2.2.2.2).
  mutating func value(of property: UInt8) throws(MalformedPacket) -> Int {
    switch property {
    case 0x24, 0x25, 0x28, 0x29, 0x2A: return try number(1)
    case 0x13, 0x21, 0x22: return try number(2)
    case 0x11, 0x27: return try number(4)
    case 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F:
      _ = try take(try number(2))
      return 0
    case 0x26:
      for _ in 0..<2 { _ = try take(try number(2)) }
      return 0
    default: throw MalformedPacket()
    }
  }
}
