// Encodes the packets of MQTT 5 that the relay sends.

import FoundationEssentials

/// Makes packets. The numbers of the standard's sections are in parentheses.
enum Packet {
  /// Connects to a session that the broker keeps (3.1). The broker publishes the will if the
  /// connection is lost.
  static func connect(
    _ client: String, keepAlive: Int, will: (topic: String, payload: Data)?,
    _ credentials: Credentials?
  ) -> [UInt8] {
    let hasWill: UInt8 = will == nil ? 0 : 0x2C  // QoS 1, retained
    let hasCredentials: UInt8 = credentials == nil ? 0 : 0xC0
    var body = Body()
    body.add("MQTT")
    body.bytes += [5, hasWill | hasCredentials]
    body.add(UInt16(keepAlive))
    var properties = Body()
    properties.bytes.append(0x11)  // session expiry interval
    properties.add(UInt32(sessionSeconds))
    properties.bytes.append(0x21)  // receive maximum
    properties.add(UInt16(maxUnconfirmed))
    body.addLength(properties.bytes.count)
    body.bytes += properties.bytes
    body.add(client)
    if let will {
      body.bytes.append(0)  // no properties
      body.add(will.topic)
      body.add(will.payload)
    }
    if let credentials {
      body.add(credentials.user)
      body.add(credentials.password)
    }
    return body.packet(0x10)
  }

  /// Publishes with QoS 1 (3.3).
  static func publish(
    _ payload: Data, to topic: String, isRetained: Bool, _ identifier: UInt16
  ) -> [UInt8] {
    var body = Body()
    body.add(topic)
    body.add(identifier)
    body.bytes.append(0)  // no properties
    body.bytes += payload
    return body.packet(isRetained ? 0x33 : 0x32)
  }

  /// Confirms a message (3.4).
  static func confirm(_ identifier: UInt16) -> [UInt8] {
    var body = Body()
    body.add(identifier)
    return body.packet(0x40)
  }

  /// Subscribes with QoS 1 (3.8). Unless the topic `isOwn`, our own messages do not come back.
  static func subscribe(_ topic: String, isOwn: Bool, _ identifier: UInt16) -> [UInt8] {
    var body = Body()
    body.add(identifier)
    body.bytes.append(0)  // no properties
    body.add(topic)
    body.bytes.append(isOwn ? 1 : 5)
    return body.packet(0x82)
  }

  static func unsubscribe(_ topic: String, _ identifier: UInt16) -> [UInt8] {
    var body = Body()
    body.add(identifier)
    body.bytes.append(0)  // no properties
    body.add(topic)
    return body.packet(0xA2)
  }

  /// Asks for a sign of life (3.12).
  static let ping: [UInt8] = [0xC0, 0]

  /// Ends the connection, so that the broker does not publish the will (3.14).
  static let disconnect: [UInt8] = [0xE0, 0]

  /// How long the broker keeps messages for us while we are away: a week.
  private static let sessionSeconds = 7 * 24 * 3600

  /// How many messages the broker may send before we confirm them.
  private static let maxUnconfirmed = 1000

  /// The longest text that a packet can contain, and the longest packet.
  static let maxTextBytes = 65_535
  static let maxBytes = 1 << 28
}

/// A packet without its header.
private struct Body {
  var bytes: [UInt8] = []

  mutating func add(_ number: UInt16) {
    bytes += [UInt8(number >> 8), UInt8(number & 0xFF)]
  }

  mutating func add(_ number: UInt32) {
    add(UInt16(number >> 16))
    add(UInt16(number & 0xFFFF))
  }

  mutating func add(_ text: String) {
    add(UInt16(text.utf8.count))
    bytes += text.utf8
  }

  mutating func add(_ data: Data) {
    add(UInt16(data.count))
    bytes += data
  }

  /// Seven bits in each byte, the least significant first (1.5.5).
  mutating func addLength(_ length: Int) {
    var rest = length
    repeat {
      bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
  }

  /// The packet, with its type and flags.
  func packet(_ type: UInt8) -> [UInt8] {
    var packet = Body(bytes: [type])
    packet.addLength(bytes.count)
    return packet.bytes + bytes
  }
}
