// Shares the records of logs, each once.
//
// A record waits in the log of its origin until the broker has it. Each record has the number of
// the one that its origin published before it, so a gap is noticed: a relay that notices one
// publishes how far it has got, and the origin publishes again from there.

import Wormhole

/// A log of another origin.
struct LogKey: Hashable {
  let address: MessageAddress
  let origin: Origin
}

/// How far a log of this machine is published.
struct LogReader {
  let channel: Channel
  /// The last record from before the log was shared.
  let floor: UInt64
  /// The last record that the broker has confirmed.
  var confirmed: UInt64
  /// The last record that was looked at.
  var position: UInt64
  /// The last record of this machine that was published, 0 for none.
  var published: UInt64 = 0
  var hasNews = true
  /// The numbers of what is underway.
  var underway: [UInt16: UInt64] = [:]
  /// The numbers of what is too large for the broker.
  var tooLarge: Set<UInt64> = []

  init(_ channel: Channel, _ row: SentLog) {
    (self.channel, floor, confirmed, position) = (channel, row.floor, row.sent, row.sent)
    rewind(to: row.sent)
  }

  /// Begins again behind a record, but never publishes one from before the log was shared.
  mutating func rewind(to number: UInt64) {
    (position, published) = number > floor ? (number, number) : (floor, 0)
    (hasNews, underway) = (true, [:])
  }
}

/// A record of another origin in a log of this machine.
typealias NotNoted = (time: Int64, number: UInt64, isClearing: Bool)

extension Realm {
  // MARK: Logs of this machine

  /// Reads how far everything has got. Records from before a log was shared stay here.
  func beginLogs() throws(Mistake) {
    stored = try relay.store.stored(in: settings.name)
    let sent = try relay.store.sent(in: settings.name)
    for group in settings.groups where sent[MessageAddress(group: group, name: "")] == nil {
      try relay.store.set(SentLog(), of: MessageAddress(group: group, name: ""), in: settings.name)
      for channel in relay.channels.all where channel.isLog && channel.address.group == group {
        let last: UInt64
        do { last = try channel.mailbox.lastNumber() } catch {
          throw Mistake("\(channel.address.name) of \(group) cannot be read: \(error)", status: 2)
        }
        let row = SentLog(sent: last, floor: last)
        try relay.store.set(row, of: channel.address, in: settings.name)
      }
    }
    for channel in relay.channels.all { hasFound(channel) }
  }

  func addReader(of channel: Channel) {
    let row = relay.keeping { try relay.store.sent(in: settings.name)[channel.address] }
    readers[channel.address] = LogReader(channel, row ?? SentLog())
  }

  /// After the connection was lost, what was not confirmed is published again.
  func rewindLogs() {
    for (address, reader) in readers { readers[address]?.rewind(to: reader.confirmed) }
  }

  /// Publishes the next record of a log.
  func publishRecord() -> Bool {
    guard let address = readers.first(where: { $0.value.hasNews })?.key,
      var reader = readers[address]
    else { return false }
    defer { readers[address] = reader }
    let next: Wormhole.NumberedRecord?
    do {
      next = try reader.channel.mailbox.records(after: reader.position, limit: 1).records.first
    } catch {
      next = nil
      readLater(address, error)
    }
    guard let next else {
      reader.hasNews = false
      return true
    }
    reader.position = next.number
    guard relay.origin(of: next.record.sender.process) == relay.origin,
      !reader.tooLarge.contains(next.number),
      let payload = RecordPayload(next, previous: reader.published),
      let identifier = publish(payload.body, as: .log(address), isRetained: false)
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
    // A request for the records behind it is answered without it.
    if failure != nil { readers[address]?.tooLarge.insert(number) }
    let rest = readers[address]?.underway.values.min() ?? .max
    guard number < rest, let floor = readers[address]?.floor else { return }
    readers[address]?.confirmed = number
    let row = SentLog(sent: number, floor: floor)
    relay.keeping { try relay.store.set(row, of: address, in: settings.name) }
    // Relays that did not get the last records learn from our presence how many there are.
    relay.loop.set("presence \(settings.name)", after: .seconds(1)) { [self] in
      mustSayPresence = true
    }
  }

  /// The numbers of the logs of this machine, for our presence.
  var publishedLogs: [MessageAddress: UInt64] {
    readers.mapValues(\.published).filter { $0.value > 0 }
  }

  /// Publishes again the records that another origin has not got.
  func resend(_ stored: [MessageAddress: UInt64]) {
    for (address, number) in stored where number < readers[address]?.published ?? 0 {
      readers[address]?.rewind(to: number)
    }
  }

  // MARK: Logs of others

  /// The numbers of the logs of others, for our presence.
  var storedLogs: [Origin: [MessageAddress: UInt64]] { stored.mapValues { $0.mapValues(\.stored) } }

  /// An origin has announced the last numbers of its logs.
  func compare(_ logs: [MessageAddress: UInt64], of origin: Origin, isRetained: Bool) {
    for (address, last) in logs {
      guard let group = group(of: address), let channel = group.channel(address.name, isLog: true)
      else { continue }
      let key = LogKey(address: address, origin: origin)
      if stored[origin]?[address] == nil {
        // Records of a known origin may have been stored, but not noted, before a crash.
        let start = isFirstPresence(of: origin, isRetained: isRetained) ? last : 0
        // If the log cannot be read, every record of that origin in it is assumed to be one.
        let number = start > 0 ? (try? channel.mailbox.lastNumber()) : nil
        set(StoredLog(stored: start, ownNumber: number ?? 0), key)
        relay.keeping { try relay.store.commit() }
      }
      if !isRetained, let row = stored[origin]?[address], row.stored < last {
        asked[key] = nil
        ask(key)
      }
    }
  }

  /// Stores a record unless it has been stored before. One that is too large is skipped: the
  /// records behind it must not wait for it.
  func receiveRecord(
    _ payload: RecordPayload, of address: MessageAddress, in group: LocalGroup, by origin: Origin,
    isTooLarge: Bool
  ) {
    // First: records that cannot be stored must not be asked for.
    guard let channel = group.channel(address.name, isLog: true) else {
      return report("\(address.name) of \(address.group) has no log here, but has one at \(origin)")
    }
    let key = LogKey(address: address, origin: origin)
    // For an origin that is not known yet, its presence determines where to begin.
    guard stored[origin]?[address] != nil || peers[origin]?.isKnown == true else { return }
    let row = stored[origin]?[address] ?? StoredLog(stored: 0, ownNumber: 0)
    guard payload.number > row.stored else { return counts.repeated += 1 }
    guard payload.previous <= row.stored else { return ask(key) }
    guard !isTooLarge else {
      return set(StoredLog(stored: payload.number, ownNumber: row.ownNumber), key)
    }
    do {
      let number =
        try numberBeforeCrash(of: payload, key, channel, after: row.ownNumber)
        ?? channel.append(payload.record(from: origin))
      counts.stored += 1
      asked[key] = nil
      set(StoredLog(stored: payload.number, ownNumber: number), key)
    } catch {
      report("\(address.name) of \(address.group) cannot be stored: \(error)")
    }
  }

  /// Records that were stored just before this program was killed may not have been noted. They
  /// come again in the same order. If this is one of them, returns its number in the log here.
  private func numberBeforeCrash(
    of payload: RecordPayload, _ key: LogKey, _ channel: Channel, after number: UInt64
  ) throws -> UInt64? {
    if notNoted[key] == nil {
      notNoted[key] = try records(of: key.origin, in: channel, after: number)[...]
    }
    guard let index = notNoted[key]?.firstIndex(where: { $0.time == payload.time }) else {
      // Perhaps its origin has cleared the log since.
      guard let first = notNoted[key]?.first, first.isClearing, payload.time < first.time
      else { return nil }
      return number
    }
    defer { notNoted[key] = notNoted[key]?[(index + 1)...] }
    return notNoted[key]?[index].number
  }

  /// The records of an origin in the log of this machine, after a number of this machine.
  private func records(
    of origin: Origin, in channel: Channel, after number: UInt64
  ) throws -> [NotNoted] {
    var found: [NotNoted] = []
    var number = number
    while true {
      let batch = try channel.mailbox.records(after: number, limit: 256)
      for record in batch.records where record.record.sender.process == origin.number {
        let isClearing = if case .cleared = record.record.content { true } else { false }
        found.append((record.record.date.nanoseconds, record.number, isClearing))
      }
      guard batch.hasMore, let last = batch.records.last else { return found }
      number = last.number
    }
  }

  private func set(_ row: StoredLog, _ key: LogKey) {
    stored[key.origin, default: [:]][key.address] = row
    relay.keeping { try relay.store.set(row, of: key.address, by: key.origin, in: settings.name) }
  }

  /// Asks for what is missing, by saying how far we have got, but not for every record behind it.
  private func ask(_ key: LogKey) {
    let now = ContinuousClock.now
    if let last = asked[key], now - last < .seconds(2) { return }
    asked[key] = now
    if stored[key.origin]?[key.address] == nil { set(StoredLog(stored: 0, ownNumber: 0), key) }
    mustSayPresence = true
  }
}
