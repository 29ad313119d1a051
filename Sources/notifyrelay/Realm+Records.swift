// Shares the records of message names, each once and in order.
//
// A record waits in the store of its origin until the broker has it, which keeps the last one of
// each name. Each has the number of the one before it, so a gap is noticed: a relay that notices
// one asks, and the origin publishes again from there.

import DarwinNotify
import Wormhole

/// A message name of another origin.
struct RecordKey: Hashable {
  let address: MessageAddress
  let origin: Origin
}

/// How far the records of a name have been published.
struct RecordReader {
  let store: MessageStore
  private let token: NotifyToken?
  /// What survives this process.
  var row: SentRow
  /// The number of the last record that was looked at.
  var position: UInt64 = 0
  /// The last record of this machine that was published, 0 for none.
  var published: UInt64 = 0
  /// The numbers of what is underway.
  var underway: [UInt16: UInt64] = [:]
  /// The numbers of what is too large for the broker.
  var tooLarge: Set<UInt64> = []

  init(_ name: String, of group: LocalGroup, _ row: SentRow) {
    (store, token, self.row) = (group.store, group.register(name), row)
    rewind(to: row.sent)
  }

  /// Begins again after a record, but never publishes one from before the group was shared.
  mutating func rewind(to number: UInt64) {
    (position, published) = number > row.floor ? (number, number) : (row.floor, 0)
    underway = [:]
  }

  /// Notices another store than before, or an earlier state of it: there, all records are new.
  /// Returns whether there was something to notice.
  mutating func compare(_ batch: StoredBatch) -> Bool {
    let isOther = batch.identity != row.identity
    guard isOther || batch.last < row.sent else { return false }
    let epoch = isOther ? UInt64(bitPattern: batch.identity) : .random(in: 1...UInt64.max)
    row = SentRow(floor: 0, identity: batch.identity, epoch: epoch)
    tooLarge = []
    rewind(to: 0)
    return true
  }
}

extension Realm {
  // MARK: Records of this machine

  /// Begins where the last run has ended. Of what was passed before the group was shared, only the
  /// newest message of each name leaves the machine.
  func beginRecords() throws {
    for group in groups.values {
      let marker = MessageAddress(group: group.name, name: "")
      if try relay.store.sent(of: marker, in: settings.name) == nil {
        for name in try group.store.names() { try setFloor(of: name.name, in: group) }
        try relay.store.set(SentRow(), of: marker, in: settings.name)
        try relay.store.commit()
      }
      try group.begin()
      search(group)
    }
  }

  private func search(_ group: LocalGroup) {
    for found in group.names {
      let address = MessageAddress(group: group.name, name: found.name)
      if readers[address]?.position != found.last { hasChanged(address) }
    }
    relay.loop.set("search \(group.name)", after: group.timeToSearch) { [self] in search(group) }
  }

  private func setFloor(of name: String, in group: LocalGroup) throws {
    let (newest, batch) = try (group.store.newest(of: name), group.store.position(of: name))
    let floor = max(newest?.number ?? batch.last, 1) - 1
    let row = SentRow(
      sent: floor, floor: floor, identity: batch.identity, epoch: UInt64(bitPattern: batch.identity)
    )
    try relay.store.set(row, of: MessageAddress(group: group.name, name: name), in: settings.name)
  }

  /// Something may have been passed to a name by a program of this machine.
  func hasChanged(_ address: MessageAddress) {
    guard settings.sends, let group = groups[address.group] else { return }
    if readers[address] == nil {
      guard readers.count < Self.maxReaders else {
        return report("new message names are not shared: there are \(Self.maxReaders) already")
      }
      let row = relay.keeping { try relay.store.sent(of: address, in: settings.name) }
      readers[address] = RecordReader(address.name, of: group, row ?? SentRow())
    }
    waitingRecords.append(address)
  }

  /// Bounds for the memory that strangers can make us use, of which they must leave enough for the
  /// names of this machine.
  private static let maxReaders = 8_192
  private static let maxNames = maxReaders / 2

  /// Reports that a name cannot be read, and tries again after a second.
  private func readLater(_ address: MessageAddress, _ error: any Error) {
    report("\(address.name) of \(address.group) cannot be read: \(error)")
    relay.loop.set("read \(settings.name) \(address)", after: .seconds(1)) { [self] in
      waitingRecords.append(address)
    }
  }

  /// After the connection was lost, what was not confirmed is published again, and what the broker
  /// should have, but has lost.
  func rewindRecords() {
    for (address, reader) in readers {
      let (row, kept) = (reader.row, confirmedRecords[address])
      let hasLast = kept.map { $0.epoch == row.epoch && $0.number >= row.sent } ?? false
      readers[address]?.rewind(to: hasLast ? row.sent : max(row.sent, 1) - 1)
      waitingRecords.append(address)
    }
    confirmedRecords = [:]
  }

  /// Publishes the next record of a name.
  func publishRecord() -> Bool {
    guard let address = waitingRecords.take({ _ in true }), var reader = readers[address] else {
      return false
    }
    defer { readers[address] = reader }
    let batch: StoredBatch
    do {
      batch = try reader.store.records(of: address.name, after: reader.position, limit: 1)
    } catch {
      readLater(address, error)
      return true
    }
    // Without a store there is nothing to publish.
    guard batch.identity != 0 else { return true }
    if reader.compare(batch) {
      waitingRecords.append(address)
      return true
    }
    guard let next = batch.records.first else { return true }
    if batch.hasMore { waitingRecords.append(address) }
    reader.position = next.number
    guard next.sender.machine == nil, !reader.tooLarge.contains(next.number),
      let payload = RecordPayload(next, of: reader, keep: batch.keep),
      // A ping must not replace the newest message at the broker.
      let identifier = publish(
        payload.body, as: .record(address), isRetained: next.content != .ping)
    else { return true }
    reader.published = next.number
    reader.underway[identifier] = next.number
    return true
  }

  /// The broker has a record, or never takes it. One that it refuses for another reason stays
  /// unconfirmed, and is published again with the next connection.
  func didPublishRecord(of address: MessageAddress, _ identifier: UInt16, _ failure: Failure?) {
    guard failure?.isTooLarge ?? true,
      let number = readers[address]?.underway.removeValue(forKey: identifier)
    else { return }
    // Relays that ask for the records after it get them without it.
    if failure != nil { readers[address]?.tooLarge.insert(number) }
    let rest = readers[address]?.underway.values.min() ?? .max
    guard number < rest, var row = readers[address]?.row, number > row.sent else { return }
    row.sent = number
    readers[address]?.row = row
    relay.keeping { try relay.store.set(row, of: address, in: settings.name) }
  }

  /// Publishes again the records that another origin has not got.
  func resend(_ ask: AskPayload, of address: MessageAddress) {
    guard ask.origin == relay.origin, let reader = readers[address],
      ask.epoch == reader.row.epoch, ask.number < reader.published
    else { return }
    readers[address]?.rewind(to: ask.number)
    waitingRecords.append(address)
  }

  // MARK: Records of others

  /// Stores a record unless it has been stored before, or asks for those that must come first. One
  /// that is too large is skipped: the records after it must not wait for it.
  func receiveRecord(
    _ payload: RecordPayload, of address: MessageAddress, in group: LocalGroup, by origin: Origin,
    isTooLarge: Bool
  ) {
    let key = RecordKey(address: address, origin: origin)
    do {
      let result = try group.store.receive(
        payload.record(from: origin, isTooLarge: isTooLarge), of: address.name,
        on: "\(relay.origin)", isFirst: peers[origin]?.isKnown != true, maxNames: Self.maxNames)
      if case .missing(let number) = result {
        return ask(key, AskPayload(origin: origin, epoch: payload.epoch, number: number))
      }
      asked[key] = nil
      switch result {
      case .stored: counts.stored += 1
      case .repeated: counts.repeated += 1
      case .superseded: counts.superseded += isTooLarge ? 0 : 1
      case .refused:
        counts.refused += 1
        report("new names of \(address.group) are not taken: there are \(Self.maxNames) already")
      case .missing: break
      }
    } catch WormholeError.invalidIdentifier {
      counts.malformed += 1
    } catch {
      report("\(address.name) of \(address.group) cannot be stored: \(error)")
      // A program has locked the store for ten seconds. The broker still has the last record. Other
      // errors last longer: there it waits for the next record or connection.
      if case WormholeError.busy = error { subscribeSoon() }
    }
  }

  /// Asks for what is missing, but not for every record after it.
  private func ask(_ key: RecordKey, _ payload: AskPayload) {
    let now = ContinuousClock.now
    if let last = asked[key], now - last.at < .seconds(2) { return }
    asked[key] = (now, payload)
    waitingAsks.append(key)
  }

  /// An origin may not have heard what was asked while it was away.
  func askAgain(_ origin: Origin) {
    for key in asked.keys where key.origin == origin { waitingAsks.append(key) }
  }

  func publishAsk() -> Bool {
    guard let key = waitingAsks.take({ _ in true }) else { return false }
    if let payload = asked[key]?.payload {
      _ = publish(payload.body, as: .ask(key.address), isRetained: false)
    }
    return true
  }
}
