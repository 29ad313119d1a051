// Specifies that nothing that a broker sends ends a relay or keeps it from its other work.
import DarwinNotify
import Foundation
import Glibc
import Synchronization
import Testing

@Suite(.bounded) struct RelayHostileBrokerTests {
  private static let malformed: [[UInt8]] = [
    [0x20, 5, 0, 0, 2, 0x7F, 1],  // an unknown property
    [0x20, 3, 0, 0, 100],  // more properties than bytes
    [0x20, 6, 0, 0, 3, 0x21, 0, 0],  // a receive maximum of 0
    [0x20, 5, 0, 0, 2, 0x21, 1],  // half a number
    [0x20, 6, 0, 0, 3, 0x12, 0xFF, 0xFF],  // a text that is longer than the packet
    [0x20, 0],
    [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 1],  // a length of more than four bytes
    [0x90, 3, 0, 1, 0],  // before the connection is accepted
    FakeBroker.welcome + FakeBroker.welcome,
    FakeBroker.welcome + [0x30, 0],
    FakeBroker.welcome + [0x30, 5, 0, 1, 0x61, 2, 0x7F],  // half of its properties
    FakeBroker.welcome + [0x30, 2, 0xFF, 0xFF],  // a topic that is longer than the packet
    FakeBroker.welcome + [0x34, 6, 0, 1, 0x61, 0, 1, 0],  // QoS 2
    FakeBroker.welcome + [0x36, 6, 0, 1, 0x61, 0, 1, 0],  // QoS 3
    FakeBroker.welcome + [0x32, 6, 0, 1, 0x61, 0, 0, 0],  // without a number
    FakeBroker.welcome + [0x40, 1, 0],
    FakeBroker.welcome + [0x90, 2, 0, 1],
    FakeBroker.welcome + [0x90, 0xFF, 0xFF, 0xFF, 0x7F],
    FakeBroker.welcome + [0xF0, 0],
    FakeBroker.welcome + [0x00, 0],
  ]

  @Test func aMalformedPacketEndsOnlyItsConnection() async throws {
    let brokers = try Self.malformed.map { try FakeBroker(sending: $0) }
    defer { for broker in brokers { broker.stop() } }
    let session = try Session()
    let realms = brokers.enumerated().flatMap { $1.realm("r\($0)") }
    try await session.start(realms, isOnline: false)
    for (index, broker) in brokers.enumerated() {
      await eventually("\(Self.malformed[index]) is not noticed: \(session.relay?.errors ?? "")") {
        broker.connections > 1
      }
    }
    for (index, broker) in brokers.enumerated() {
      let line = "realm r\(index): 127.0.0.1:\(broker.port) sends what is not"
      // It was printed before the relay tried again, but perhaps not yet read here.
      await eventually("\(line) is not said") { session.relay?.errors.contains(line) == true }
    }
    #expect(await session.end()?.status == 0)
  }

  /// Whatever the contents, the relay continues.
  @Test func aMessageWithoutMeaningIsCounted() async throws {
    let messages: [[UInt8]] = [
      [0x30, 3, 0, 0, 0],  // no topic
      [0x30, 4, 0, 1, 0xFF, 0],  // not UTF-8
      [0x30, 6, 0, 1, 0x61, 2, 0x7F, 1],  // an unknown property
      [0x90, 3, 0, 1, 0],  // no reasons
      [0x90, 4, 0, 1, 0, 0x87], [0x40, 2, 0x12, 0x34], [0xB0, 0], [0xD0, 0],
      publication("n/com.example.light/00000000000000aa", "1 1 1 0 0 0"),
    ]
    let broker = try FakeBroker(sending: FakeBroker.welcome + messages.joined())
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { await session.counts()?.received == 4 }
    #expect(await session.counts()?.malformed == 3)
    #expect(broker.connections == 1)
  }

  @Test func bytesAtRandomDoNotEndARelay() async throws {
    var random = SystemRandomNumberGenerator()
    let brokers = try (0..<32).map { index in
      var bytes: [UInt8] = index.isMultiple(of: 2) ? FakeBroker.welcome : []
      for _ in 0..<4096 { bytes.append(.random(in: 0...255, using: &random)) }
      return try FakeBroker(closes: true, sending: bytes)
    }
    defer { for broker in brokers { broker.stop() } }
    let session = try Session()
    let realms = brokers.enumerated().flatMap { $1.realm("r\($0)") }
    try await session.start(realms, isOnline: false)
    for broker in brokers { await eventually { broker.connections > 1 } }
    #expect(await session.end()?.status == 0)
  }

  @Test func aBrokerThatClosesWhatItAcceptsIsTriedLessAndLessOften() async throws {
    let broker = try FakeBroker(closes: true, sending: FakeBroker.welcome)
    defer { broker.stop() }
    let session = try Session()
    let begin = ContinuousClock.now
    try await session.start(broker.realm(), isOnline: false)
    await eventually { broker.connections >= 6 }
    // At least half of a quarter of a second, of half a second, and so on.
    #expect(.now - begin > .seconds(3.8))
    await session.end()
  }

  /// The relay notices that when it confirms the first messages, while it still has many to handle.
  @Test func aBrokerThatClosesBehindManyMessagesCostsNoProcessorTime() async throws {
    let messages = (1...400).map { toConfirm($0, "1 1 1 0 0 0") }
    let broker = try FakeBroker(closes: true, sending: FakeBroker.welcome + messages.joined())
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { broker.connections >= 2 }
    let begin = try session.processorTime()
    await eventually { broker.connections >= 6 }
    #expect(try session.processorTime() - begin < 0.5 * Double(slowness))
    await session.end()
  }

  /// There are only so many numbers, but each is used again once it is confirmed.
  @Test func aConnectionOutlivesTheNumbersOfItsMessages() async throws {
    let broker = try FakeBroker { client in
      FakeBroker.admit(client)
      var buffer = [UInt8](repeating: 0, count: 65536)
      for _ in 0..<70 {
        let bytes = (1...1000).flatMap { toConfirm($0, "") }
        send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var confirmed = 0
        while confirmed < 4000, case let count = recv(client, &buffer, buffer.count, 0), count > 0 {
          confirmed += count
        }
      }
    }
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { await session.counts()?.malformed == 70_000 }
    #expect(broker.connections == 1)
    #expect(await session.end()?.status == 0)
  }

  @Test func eachMissingMessageIsNoticed() async throws {
    let broker = try FakeBroker(
      admits: true,
      sending: [1, 2, 4, 5].flatMap {
        publication("p/00000000000000aa", "1 \($0) online 1 :1.0")
      })
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { await session.counts()?.received == 5 }
    #expect(await session.counts()?.gaps == 1)
  }

  /// Each presence has a number until it is confirmed, and there are only so many.
  @Test func aBrokerThatConfirmsNothingHearsOurPresenceOnlySoOften() async throws {
    let presences = Atomic(0)
    let isDone = Atomic(false)
    let broker = try FakeBroker { client in
      FakeBroker.admit(client)
      var buffer = [UInt8](repeating: 0, count: 65536)
      for number in 0..<400 {
        // A gap in front of each message, so that the relay asks for more.
        let bytes = publication("p/00000000000000aa", "1 \(2 * number + 1) online 1 :1.0")
        send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var entry = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 20) > 0 else { continue }
        let count = recv(client, &buffer, buffer.count, 0)
        let text = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        presences.add(text.ranges(of: " online ").count, ordering: .relaxed)
      }
      isDone.store(true, ordering: .releasing)
    }
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { isDone.load(ordering: .acquiring) }
    #expect((1...64).contains(presences.load(ordering: .relaxed)))
    #expect(await session.end()?.status == 0)
  }

  /// Otherwise the broker would not publish the will, and the relay would seem to be online.
  @Test func aRelayThatCannotSayThatItEndsDoesNotDisconnectEither() async throws {
    let received = Mutex<[UInt8]>([])
    let isDone = Atomic(false)
    let broker = try FakeBroker { client in
      FakeBroker.admit(client, [0x20, 6, 0, 0, 3, 0x21, 0, 1])  // one unconfirmed message
      var buffer = [UInt8](repeating: 0, count: 65536)
      while case let count = read(client, &buffer, buffer.count), count > 0 {
        received.withLock { $0 += buffer[..<count] }
      }
      isDone.store(true, ordering: .releasing)
    }
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm())
    #expect(await session.end()?.status == 0)
    await eventually { isDone.load(ordering: .acquiring) }
    #expect(received.withLock { $0.suffix(2) } != [0xE0, 0])
  }

  @Test func textsThatAreTooLongAreNotKept() async throws {
    let name = String(repeating: "x", count: 600)
    let broker = try FakeBroker(
      admits: true,
      sending: publication("p/00000000000000aa", "1 1 online 1 :\(name)")
        + publication("p/00000000000000aa", "1 2 online 1 :1.0")
        + publication("n/com.example.\(name)/00000000000000aa", "1 3 1 0 0 0"))
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { await session.counts()?.received == 4 }
    #expect(await session.counts()?.malformed == 2)
    #expect(await session.counts()?.refused == 0)
  }

  @Test func aLongMessageTakesLittleMemory() async throws {
    let broker = try FakeBroker { client in
      let topic = Array("darwinnotify/1/home/n/com.example.light/00000000000000aa".utf8)
      let begin: [UInt8] = [0, UInt8(topic.count)] + topic + [0]
      var left = 200 << 20
      let length = begin.count + left
      var bytes = FakeBroker.welcome + [0x30]
      for index in 0..<4 {
        let seven = UInt8(truncatingIfNeeded: length >> (7 * index)) & 127
        bytes.append(index < 3 ? seven | 128 : seven)
      }
      bytes += begin
      while send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count, left > 0 {
        bytes = [UInt8](repeating: 0x20, count: min(left, 1 << 20))
        left -= bytes.count
      }
      bytes = publication("p/00000000000000aa", "1 1 online 1 :1.0")
      send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
    defer { broker.stop() }
    let session = try Session()
    try await session.start(broker.realm(), isOnline: false)
    await eventually { await session.counts()?.received == 2 }
    #expect(await session.counts()?.tooLarge == 1)
    #expect(await session.status()?.realms.first?.peers.first?.state == "online")
    #expect(try session.peakMemory() < 100_000)
  }

  /// With TLS, data that was read but not yet decrypted is not visible at the socket.
  @Test(.enabled(if: access("/usr/bin/openssl", X_OK) == 0, "openssl is not installed"))
  func aBrokerThatNeverStopsSendingKeepsNobodyWaiting() async throws {
    let certificates = try TestBroker()
    try await certificates.makeCertificates()
    let (port, session) = (try ReservedPort(), try Session())
    let chunk = "\(certificates.directory)/chunk"
    try Data(FakeBroker.welcome).write(to: URL(fileURLWithPath: "\(chunk)-0"))
    let message = publication("n/org.example.other/00000000000000aa", "1 1 1 0 0 0")
    try Data(Array(repeating: message, count: 10_000).joined())
      .write(to: URL(fileURLWithPath: chunk))
    let script = """
      cd '\(certificates.directory)' && exec openssl s_server -quiet \
        -accept 127.0.0.1:\(port.number) -cert server.crt -key server.key \
        < <(cat chunk-0; while cat chunk; do :; done)
      """
    let server = try Program("/bin/bash", ["-c", script], on: nil)
    let url = "mqtts://localhost:\(port.number)"
    try await session.start(
      [
        "--realm", "home", "--broker", url, "--share", "com.example.",
        "--ca", "\(certificates.directory)/ca.crt",
      ], isOnline: false)
    await eventually { await (session.counts()?.received ?? 0) > 10_000 }
    let begin = ContinuousClock.now
    #expect(await session.status() != nil)
    // Another task may take longer to notice the end than the relay does to reach it.
    session.relay?.send(SIGTERM)
    try session.waitUntilRelayEnds()
    #expect(.now - begin < .seconds(5 * slowness))
    #expect(await session.outcome()?.status == 0)
    server.send(SIGKILL)
    withExtendedLifetime(port) {}
  }
}

/// A packet that publishes the count of a name with QoS 1.
private func toConfirm(_ number: Int, _ payload: String) -> [UInt8] {
  var bytes = publication("n/com.example.light/00000000000000aa", payload)
  bytes[0] |= 2
  bytes[1] += 2
  bytes.insert(contentsOf: [UInt8(number >> 8), UInt8(number & 255)], at: 4 + Int(bytes[3]))
  return bytes
}

extension Session {
  /// The seconds for which the relay has run on a processor.
  fileprivate func processorTime() throws -> Double {
    let process = try #require(relay).processIdentifier
    let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    // The name of the program, in front, may contain blanks.
    let fields = try #require(text.split(separator: ")").last).split(separator: " ")
    let ticks = try #require(Int(fields[11])) + #require(Int(fields[12]))
    return Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
