// Connects this machine with the others of a realm.

import DarwinNotify
import FoundationEssentials

/// One realm: its connection, and what waits for it.
///
/// After each connection the broker first sends its retained messages. Our own message that we are
/// joining comes back after them: then we know what the broker lacks, publish it, and announce
/// that we are online.
final class Realm: ConnectionDelegate {
  let settings: RealmSettings
  unowned let relay: Relay
  let topics: Topics
  var counts = Counts()

  /// Published and not yet confirmed subjects, by number.
  private var underway: [UInt16: Subject] = [:]
  private var serial: UInt64 = 0

  // Names: Realm+Names.swift.
  var waitingNames = Waiting<String>()
  var namesUnderway: Set<String> = []
  var confirmedNames: [String: UInt64] = [:]
  /// Names that others have posted, until they are posted here.
  var arrivedNames: [NameKey: NamePayload] = [:]
  /// The stored counts of their posts there, as far as they have been needed.
  var seenNames: [NameKey: UInt64] = [:]

  // Records: Realm+Records.swift.
  private(set) var groups: [String: LocalGroup] = [:]
  var readers: [MessageAddress: RecordReader] = [:]
  var waitingRecords = Waiting<MessageAddress>()
  /// What the broker keeps of ours, while we join.
  var confirmedRecords: [MessageAddress: (epoch: UInt64, number: UInt64)] = [:]
  var asked: [RecordKey: (at: ContinuousClock.Instant, payload: AskPayload)] = [:]
  var waitingAsks = Waiting<RecordKey>()

  // Other origins: Realm+Presence.swift.
  var peers: [Origin: Peer] = [:]
  /// When we have met origins for the first time, nanoseconds since 1970, during this connection.
  var metNow: [Origin: Int64] = [:]
  var mustSayPresence = false
  var connectedAt: Int64 = 0
  /// When this process has tried to connect since it last joined.
  private var ownTimes: Set<Int64> = []
  /// When it connected the last time that it joined.
  private(set) var joinedAt: Int64?

  private(set) var state = State.connecting
  private(set) var problem: String?
  private var connection: Connection?

  enum State: String, Codable {
    case connecting
    case joining
    case online
    case stopped
  }

  /// How much may be underway: enough for the latency of a distant broker.
  private static let maxUnderway = 64

  /// How many messages may wait to be stored together. mosquitto keeps 20 in flight.
  private static let maxUnacknowledged = 8

  init(_ settings: RealmSettings, of relay: Relay) throws(Mistake) {
    self.settings = settings
    self.relay = relay
    topics = Topics(realm: settings.name, by: relay.origin)
  }

  func begin() throws {
    try beginPeers()
    for name in settings.groups {
      groups[name] = try LocalGroup(name, inbox: relay.inbox)
    }
    try beginRecords()
    connection = try Connection(settings, as: relay.origin, on: relay.loop, delegate: self)
    connection?.open()
  }

  func end() {
    guard state == .joining || state == .online else { return }
    sayPresence(PresencePayload(.offline, connected: connectedAt, version: version))
    connection?.close()
  }

  /// The number of received messages that are not stored yet.
  var unacknowledged: Int { connection?.unacknowledged ?? 0 }

  /// Whether something must be published now, or the broker may be waiting to send more.
  var isInHurry: Bool {
    unacknowledged > Self.maxUnacknowledged || mustSayPresence || waitingNames.count > 0
      || waitingRecords.count > 0 || waitingAsks.count > 0
  }

  /// All received messages are stored.
  func didKeep() { connection?.unacknowledged = 0 }

  /// Publishes what waits, as far as the broker keeps up, and acknowledges what has come.
  func publish() {
    defer { connection?.flush() }
    guard state == .online else { return }
    while underway.count < Self.maxUnderway,
      publishName() || publishPresence() || publishAsk() || publishRecord()
    {}
  }

  /// Publishes our presence after the names and before the records. The names set the baseline for
  /// relays that meet us only now; these want every record after it.
  private func publishPresence() -> Bool {
    guard mustSayPresence else { return false }
    mustSayPresence = false
    sayPresence(PresencePayload(.online, connected: connectedAt, version: version))
    return true
  }

  /// Publishes something. Returns its number, by which the broker confirms it.
  func publish(_ body: Data, as subject: Subject, isRetained: Bool) -> UInt16? {
    guard body.count + 32 <= settings.maxBytes else {
      counts.tooLarge += 1
      return nil
    }
    guard let number = send(body, as: subject, isRetained: isRetained) else { return nil }
    underway[number] = subject
    counts.sent += 1
    return number
  }

  private func sayPresence(_ presence: PresencePayload) {
    guard let number = send(presence.body, as: .presence, isRetained: true) else { return }
    underway[number] = .presence
  }

  /// Hands a message to the connection, which knows of some messages that the broker refuses.
  private func send(_ body: Data, as subject: Subject, isRetained: Bool) -> UInt16? {
    let topic = topic(of: subject)
    do {
      return try connection?.publish(envelope(body), to: topic, isRetained: isRetained)
    } catch {
      serial -= 1  // Others would look for a message that was dropped.
      counts.refused += 1
      report("\(topic): \(error.text)")
      return nil
    }
  }

  private func envelope(_ body: Data) -> Data {
    serial += 1
    return Data("1 \(serial) ".utf8) + body
  }

  var underwayCount: Int { underway.count }

  func topic(of subject: Subject) -> String { topics.topic(of: subject) }

  var version: String { DarwinNotificationCenter.libraryVersion }

  // MARK: Events of the connection

  func makeWill() -> (topic: String, payload: Data) {
    connectedAt = Date.nowNanoseconds
    ownTimes.insert(connectedAt)
    let will = PresencePayload(.offline, connected: connectedAt, version: version)
    return (topic(of: .presence), envelope(will.body))
  }

  func didConnect() {
    say("connected to \(settings.broker.host)")
    (state, problem) = (.joining, nil)
    (underway, namesUnderway, confirmedNames, confirmedRecords) = ([:], [], [:], [:])
    (asked, metNow) = ([:], [:])
    for origin in peers.keys { peers[origin]?.serial = nil }
    connection?.subscribe(ownTopics, isOwn: true)
    connection?.subscribe(foreignTopics, isOwn: false)
    join()
  }

  /// Says that we are joining. A broker whose queue for us is full drops what we would get back.
  private func join() {
    guard state == .joining else { return }
    sayPresence(PresencePayload(.joining, connected: connectedAt, version: version))
    relay.loop.set("join \(settings.name)", after: .seconds(10)) { [self] in join() }
  }

  /// Asks the broker for all that it keeps, since it has dropped something.
  func subscribeAgain() {
    guard state == .online else { return }
    counts.gaps += 1
    mustSayPresence = true
    subscribeSoon()
  }

  /// Asks the broker for all that it keeps.
  func subscribeSoon() {
    relay.loop.set("again \(settings.name)", after: .seconds(1)) { [self] in
      if state == .online { connection?.subscribe(foreignTopics, isOwn: false) }
    }
  }

  func didLose(_ failure: Failure) {
    if problem != failure.text { say(failure.text) }
    (state, problem) = (.connecting, failure.text)
    underway = [:]
    guard failure.isFinal else { return }
    connection?.close()
    (connection, state) = (nil, .stopped)
    relay.hasStopped(
      "realm \(settings.name): if this home directory is a copy, remove origin and state.sqlite "
        + "from the state directory of one of the machines")
  }

  func didSubscribe(_ failure: Failure?) {
    if let failure { report("the topics of the realm cannot be read: \(failure.text)") }
  }

  func didPublish(_ identifier: UInt16, _ failure: Failure?) {
    guard let subject = underway.removeValue(forKey: identifier) else { return }
    if let failure {
      counts.refused += 1
      report("\(topic(of: subject)): \(failure.text)")
    }
    switch subject {
    case .name(let name): namesUnderway.remove(name)
    case .record(let address): didPublishRecord(of: address, identifier, failure)
    case .ask, .presence: break
    }
  }

  func didReceive(_ message: Message) {
    counts.received += 1
    guard let (subject, origin) = topics.parse(message.topic) else { return counts.malformed += 1 }
    let isTooLarge = message.isCut || message.payload.count > settings.maxBytes
    if isTooLarge {
      counts.tooLarge += 1
      guard case .record = subject else { return }
    }
    do throws(PayloadError) {
      let fields = try Fields(message.payload)
      if origin == relay.origin {
        try receiveOwn(subject, fields)
      } else if meet(origin) {
        try receive(
          subject, fields, by: origin, isRetained: message.isRetained, isTooLarge: isTooLarge)
      }
    } catch {
      if error == .newer { counts.newer += 1 } else { counts.malformed += 1 }
    }
  }

  private func receive(
    _ subject: Subject, _ fields: Fields, by origin: Origin, isRetained: Bool, isTooLarge: Bool
  ) throws(PayloadError) {
    if case .presence = subject {
      let presence = try PresencePayload(fields)
      if !isRetained { checkSerial(fields.serial, of: origin, begins: presence.state != .online) }
      return receivePresence(presence, by: origin, isRetained: isRetained)
    }
    if !isRetained { checkSerial(fields.serial, of: origin, begins: false) }
    switch subject {
    case .presence: break
    case .name(let name):
      guard settings.receives, settings.shares(name) else { return counts.notShared += 1 }
      receive(name, try NamePayload(fields), by: origin, isRetained: isRetained)
    case .record(let address):
      guard settings.receives, let group = groups[address.group] else {
        return counts.notShared += 1
      }
      receiveRecord(
        try RecordPayload(fields), of: address, in: group, by: origin, isTooLarge: isTooLarge)
    case .ask(let address): resend(try AskPayload(fields), of: address)
    }
  }

  /// Handles one of our own messages, which the broker sends back.
  private func receiveOwn(_ subject: Subject, _ fields: Fields) throws(PayloadError) {
    switch subject {
    case .name(let name): confirmName(name, try NamePayload(fields))
    case .record(let address):
      let payload = try RecordPayload(fields)
      confirmedRecords[address] = (payload.epoch, payload.number)
    case .ask: break
    case .presence:
      let presence = try PresencePayload(fields)
      if presence.state == .joining, presence.connected == connectedAt { return didJoin() }
      // Another process has connected since we joined. What one has left that ended before that may
      // still be in the session, which a broker restores with its data.
      if let joinedAt, presence.connected > joinedAt, !ownTimes.contains(presence.connected) {
        didLose(.takenOver)
      }
    }
  }

  /// All that the broker keeps has arrived.
  private func didJoin() {
    guard state == .joining else { return }
    connection?.unsubscribe(ownTopics)
    state = .online
    (joinedAt, ownTimes) = (connectedAt, [])
    if settings.sends {
      waitForUnconfirmedNames()
      rewindRecords()
    }
    knowPeers()
    mustSayPresence = true
  }

  private var ownTopics: [String] {
    let (base, origin) = (topics.base, relay.origin)
    let sent = settings.sends ? ["\(base)n/+/\(origin)", "\(base)r/+/+/\(origin)"] : []
    return sent + ["\(base)p/\(origin)"]
  }

  private var foreignTopics: [String] {
    (settings.receives ? ["#"] : ["p/+", "a/#"]).map { topics.base + $0 }
  }

  // MARK: Reports

  func report(_ text: String) {
    if problem != text { say(text) }
    problem = text
  }

  private func say(_ text: String) {
    notifyrelay.say("realm \(settings.name): \(text)")
  }
}
