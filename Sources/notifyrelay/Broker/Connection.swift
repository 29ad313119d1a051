// Keeps a connection with a broker, in MQTT 5.

import DarwinNotifySupport
import FoundationEssentials
import Glibc

/// Receives the events of a connection.
protocol ConnectionDelegate: AnyObject {
  /// The message that the broker publishes if the next connection is lost.
  func makeWill() -> (topic: String, payload: Data)
  /// The broker has accepted the connection.
  func didConnect()
  func didLose(_ failure: Failure)
  func didReceive(_ message: Message)
  /// The broker has accepted or refused a published message.
  func didPublish(_ identifier: UInt16, _ failure: Failure?)
  func didSubscribe(_ failure: Failure?)
}

/// A connection that is made again when it is lost.
final class Connection {
  private let settings: RealmSettings
  private let origin: Origin
  private let loop: Loop
  private weak var delegate: (any ConnectionDelegate)?

  /// The state of one connection: nothing is left of the previous one.
  private var transport: Transport?
  private var reader: PacketReader
  private var limits: BrokerLimits?
  private var outgoing: [UInt8] = []
  private var outbox: Outbox
  private var isPinged = false
  /// The number of confirmations in `outgoing`.
  private var unsentConfirmations = 0
  /// The number of received messages that are not stored yet. Nothing is sent until they are.
  var unacknowledged = 0

  private var retries = Retries()
  private var isEnding = false
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var timer: String { "connection of \(settings.name)" }

  /// How much of the arrived data is handled in one turn. The rest waits for the next turn, so that
  /// other events of the relay get theirs.
  private static let maxPackets = 64
  private static let maxBytes = 1 << 20

  init(
    _ settings: RealmSettings, as origin: Origin, on loop: Loop,
    delegate: any ConnectionDelegate
  ) throws(Mistake) {
    (self.settings, self.origin, self.loop) = (settings, origin, loop)
    self.delegate = delegate
    (reader, outbox) = (PacketReader(maxPayload: settings.maxBytes), Outbox())
    _ = try makeSecrets()
  }

  /// Connects, and goes on trying. This may take long, so another thread does it.
  func open() {
    let secrets: (credentials: Credentials?, context: TLSContext?)
    do { secrets = try makeSecrets() } catch { return retry(Failure(error)) }
    let broker = settings.broker
    let opened = Locked<Result<Transport, Failure>>(.failure(.noThread))
    let thread = runDetached {
      let result = Result { () throws(Failure) in try Transport.open(broker, secrets.context) }
      opened.withLock { $0 = result }
    }
    guard let thread else { return retry(.noThread) }
    loop.add(thread) { [self] in
      loop.remove(thread)
      Glibc.close(thread)
      switch opened.withLock({ $0 }) {
      case .success(let transport): didOpen(transport, secrets.credentials)
      case .failure(let failure): retry(failure)
      }
    }
  }

  func subscribe(_ topics: [String], isOwn: Bool) {
    for topic in topics {
      outgoing += Packet.subscribe(topic, isOwn: isOwn, outbox.nextIdentifier())
    }
  }

  func unsubscribe(_ topics: [String]) {
    for topic in topics { outgoing += Packet.unsubscribe(topic, outbox.nextIdentifier()) }
  }

  /// Publishes with QoS 1. Returns the number that the delegate gets when the broker has it.
  func publish(
    _ payload: Data, to topic: String, isRetained: Bool
  ) throws(Failure) -> UInt16 {
    guard let limits else { throw .closed(settings.broker) }
    guard limits.hasQoS1 else { throw .noQoS1 }
    guard limits.retains || !isRetained else { throw .notRetained }
    guard topic.utf8.count <= Packet.maxTextBytes, payload.count < limits.packetBytes else {
      throw .tooLarge
    }
    let identifier = outbox.nextIdentifier()
    let packet = Packet.publish(payload, to: topic, isRetained: isRetained, identifier)
    guard packet.count <= limits.packetBytes else { throw .tooLarge }
    outbox.add(packet, identifier)
    sendWaiting()
    return identifier
  }

  /// Sends everything that waits: confirmations and published messages.
  func flush() {
    guard let transport, unacknowledged == 0 else { return }
    do throws(Failure) {
      var sent = 0
      while sent < outgoing.count, let count = try transport.write(outgoing[sent...]) {
        sent += count
      }
      outgoing.removeFirst(sent)
      if outgoing.isEmpty { unsentConfirmations = 0 }
    } catch {
      // The broker may have said why it is closing the connection.
      advance()
      if self.transport === transport { retry(error) }
    }
  }

  /// Ends the connection for good. If everything could be sent, the end is orderly, and the broker
  /// does not publish the will.
  func close() {
    (isEnding, delegate) = (true, nil)
    if outbox.isEmpty { outgoing += Packet.disconnect }
    flush()
    // Messages that are not stored must not be confirmed, and nothing can be sent before their
    // confirmations.
    if unacknowledged > 0 { retry(.closed(settings.broker)) }
  }

  // MARK: The life of a connection

  private func didOpen(_ transport: Transport, _ credentials: Credentials?) {
    self.transport = transport
    (reader, outbox) = (PacketReader(maxPayload: settings.maxBytes), Outbox())
    (limits, isPinged, unacknowledged, unsentConfirmations) = (nil, false, 0, 0)
    // Two realms may share a broker.
    outgoing = Packet.connect(
      "notifyrelay-\(origin)-\(Escaped.encode(settings.name))", keepAlive: settings.keepAlive,
      will: delegate?.makeWill(), credentials)
    loop.add(
      transport.descriptor,
      wantsWriting: { [self] in unacknowledged == 0 && !outgoing.isEmpty }
    ) { [self] in
      advance()
    }
    keepAlive()
    flush()
  }

  /// Handles what has arrived.
  private func advance() {
    var (packets, bytes) = (0, 0)
    do throws(Failure) {
      while let transport, packets < Self.maxPackets, bytes < Self.maxBytes {
        if let packet = try nextPacket() {
          packets += 1
          try handle(packet)
        } else if let count = try transport.read(into: &buffer) {
          bytes += count
          isPinged = false
          reader.append(buffer[..<count])
        } else {
          return
        }
      }
    } catch {
      return retry(error)
    }
    guard transport != nil else { return }
    // Data that was already read does not make the socket readable.
    loop.set("rest for \(settings.name)", after: .zero) { [self] in advance() }
  }

  private func nextPacket() throws(Failure) -> ReceivedPacket? {
    do { return try reader.next() } catch { throw .malformed(settings.broker) }
  }

  private func handle(_ packet: ReceivedPacket) throws(Failure) {
    switch packet {
    case .accepted(let new) where limits == nil: didConnect(new)
    case .refused(let reason) where limits == nil:
      // Older brokers have other reason codes: 1 is for the version.
      throw Failure(reason: reason < 0x80 ? 0x84 : reason) ?? .malformed(settings.broker)
    case .disconnected(let reason):
      throw Failure(reason: reason) ?? .closed(settings.broker)
    case _ where limits == nil: throw .malformed(settings.broker)
    case .message(let message, let identifier):
      if let identifier { try confirm(identifier) }
      delegate?.didReceive(message)
    case .published(let identifier, let reason):
      guard outbox.remove(identifier) else { break }
      sendWaiting()
      delegate?.didPublish(identifier, Failure(reason: reason))
    case .subscribed(let reasons):
      delegate?.didSubscribe(reasons.lazy.compactMap { Failure(reason: $0) }.first)
    case .unsubscribed, .pong: break
    case .accepted, .refused: throw .malformed(settings.broker)
    }
  }

  private func didConnect(_ new: BrokerLimits) {
    limits = new
    retries.didConnect()
    keepAlive()
    delegate?.didConnect()
  }

  /// Confirms a message once all earlier messages are stored.
  private func confirm(_ identifier: UInt16) throws(Failure) {
    unacknowledged += 1
    unsentConfirmations += 1
    // There can never be so many in transit: this broker does not read what we send.
    guard unsentConfirmations <= Int(UInt16.max) else { throw .malformed(settings.broker) }
    outgoing += Packet.confirm(identifier)
  }

  private func sendWaiting() {
    while let packet = outbox.take(limits?.unconfirmed ?? 0) { outgoing += packet }
  }

  /// Sends a ping when one is due, and finds out whether the last one was answered, or at first,
  /// whether the broker has accepted the connection.
  private func keepAlive() {
    let seconds = max(1, min(settings.keepAlive, limits?.keepAlive ?? .max) / 2)
    loop.set(timer, after: .seconds(seconds)) { [self] in
      guard limits != nil, !isPinged else { return retry(.silent(settings.broker)) }
      isPinged = true
      outgoing += Packet.ping
      keepAlive()
    }
  }

  private func retry(_ failure: Failure) {
    if let transport { loop.remove(transport.descriptor) }
    (transport, limits, outgoing, unacknowledged) = (nil, nil, [], 0)
    guard !isEnding else { return }
    delegate?.didLose(failure)
    guard !isEnding else { return }
    loop.set(timer, after: retries.next()) { [self] in open() }
  }

  private func makeSecrets() throws(Mistake) -> (Credentials?, TLSContext?) {
    let credentials: Credentials? =
      if let path = settings.credentials { try Credentials(path) } else { nil }
    return (credentials, settings.broker.isSecure ? try TLSContext(settings) : nil)
  }
}

/// When to try again: after a quarter of a second to a minute, so that a fleet does not come back
/// at once.
private struct Retries {
  private var pause = 0.0
  private var connected: ContinuousClock.Instant?

  /// A broker that accepts a connection and closes it soon is no better than one that refuses it.
  private static let leastSeconds = 10.0

  mutating func didConnect() {
    connected = .now
  }

  mutating func next() -> Duration {
    let lasted = connected.map { (.now - $0) / .seconds(1) } ?? 0
    pause = lasted > max(Self.leastSeconds, pause) ? 0.25 : min(60, max(0.25, 2 * pause))
    connected = nil
    return .seconds(pause * .random(in: 0.5...1))
  }
}

/// Numbers the packets to send, and holds back those that the broker does not want yet.
private struct Outbox {
  private var last: UInt16 = 0
  private var unconfirmed: Set<UInt16> = []
  private var waiting: [(packet: [UInt8], identifier: UInt16)] = []

  /// Whether nothing is held back.
  var isEmpty: Bool { waiting.isEmpty }

  /// A number that is not in use.
  mutating func nextIdentifier() -> UInt16 {
    repeat {
      last = last == .max ? 1 : last + 1
    } while unconfirmed.contains(last)
    return last
  }

  mutating func add(_ packet: [UInt8], _ identifier: UInt16) {
    unconfirmed.insert(identifier)
    waiting.append((packet, identifier))
  }

  /// The next packet to send, if the broker lets this many be unconfirmed.
  mutating func take(_ limit: Int) -> [UInt8]? {
    guard !waiting.isEmpty, unconfirmed.count - waiting.count < limit else { return nil }
    return waiting.removeFirst().packet
  }

  /// Returns whether the number was that of a packet.
  mutating func remove(_ identifier: UInt16) -> Bool { unconfirmed.remove(identifier) != nil }
}
