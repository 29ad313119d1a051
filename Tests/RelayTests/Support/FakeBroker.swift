// Sends a relay packets that no honest broker sends.
import Foundation
import Glibc
import Synchronization
import Testing

/// Answers each connection in the same way, whatever it receives, on a port of the loopback.
final class FakeBroker: Sendable {
  let port: Int
  private let listener: Int32
  private let accepted = Atomic<Int>(0)

  /// How many connections it has accepted.
  var connections: Int { accepted.load(ordering: .relaxed) }

  /// Begins to listen. `answer` writes to the socket of each connection, on a thread of its own;
  /// then the connection stays open until the relay closes it, or is closed.
  init(closes: Bool = false, _ answer: @escaping @Sendable (Int32) -> Void) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    // The kernel chooses a port: one that was free a moment ago may be taken.
    var (address, count) = (loopbackAddress(0), socklen_t(MemoryLayout<sockaddr_in>.size))
    let isBound = withAddress(&address) { bind(listener, $0, count) == 0 }
    try #require(isBound && listen(listener, 16) == 0)
    try #require(withAddress(&address) { getsockname(listener, $0, &count) == 0 })
    port = Int(UInt16(bigEndian: address.sin_port))
    self.listener = listener
    Thread.detachNewThread { [self, listener] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        accepted.add(1, ordering: .relaxed)
        Thread.detachNewThread {
          answer(client)
          if closes { shutdown(client, Int32(SHUT_RDWR)) }
          var buffer = [UInt8](repeating: 0, count: 65536)
          while read(client, &buffer, buffer.count) > 0 {}
          close(client)
        }
      }
      close(listener)
    }
  }

  /// Sends the same bytes to each connection, perhaps once the relay has joined.
  convenience init(closes: Bool = false, admits: Bool = false, sending bytes: [UInt8]) throws {
    try self.init(closes: closes) {
      if admits { Self.admit($0) }
      _ = send($0, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// Ends the thread, which refers to this object, and stops listening.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// Accepts the connection.
  static let welcome: [UInt8] = [0x20, 3, 0, 0, 0]

  /// Accepts a connection and lets the relay join: sends it what it is about to say, which is known
  /// from its will. Reads no further.
  static func admit(_ client: Int32, _ welcome: [UInt8] = welcome) {
    var (text, buffer) = ("", [UInt8](repeating: 0, count: 4096))
    let will = #//p/([0-9a-f]{16}).*offline (\d+) :/#.dotMatchesNewlines()
    while case let count = read(client, &buffer, buffer.count), count > 0 {
      text += String(decoding: buffer[..<count], as: UTF8.self)
      guard let (_, origin, time) = text.firstMatch(of: will)?.output else { continue }
      let bytes = welcome + publication("p/\(origin)", "1 1 joining \(time) :1.0")
      send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      return
    }
  }

  func realm(_ name: String = "home") -> [String] {
    ["--realm", name, "--broker", "mqtt://127.0.0.1:\(port)", "--share", "com.example."]
  }
}

/// A packet of MQTT 5 that publishes with QoS 0.
func publication(_ topic: String, _ payload: String) -> [UInt8] {
  let topic = "darwinnotify/1/home/\(topic)"
  let length = 2 + topic.utf8.count + 1 + payload.utf8.count
  let header =
    length < 128 ? [0x30, UInt8(length)] : [0x30, UInt8(length & 127 | 128), UInt8(length >> 7)]
  let topicBytes = [UInt8(topic.utf8.count >> 8), UInt8(topic.utf8.count & 255)]
  return header + topicBytes + topic.utf8 + [0] + payload.utf8
}

/// Publishes like a stranger who is in a hurry.
final class Stranger {
  private let descriptor = socket(
    AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)

  init(_ broker: TestBroker) throws {
    var address = loopbackAddress(broker.port)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    try #require(withAddress(&address) { connect(descriptor, $0, size) } == 0)
    let hello: [UInt8] = [0x10, 14, 0, 4] + "MQTT".utf8 + [5, 2, 0, 0, 0, 0, 1, 0x78]
    try write(hello)
    var answer = [UInt8](repeating: 0, count: 256)
    try #require(recv(descriptor, &answer, answer.count, 0) > 4 && answer[3] == 0)
  }

  deinit { close(descriptor) }

  func write(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      try #require(count > 0)
      sent += count
    }
  }
}
