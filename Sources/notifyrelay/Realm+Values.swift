// Shares the newest values of message names.

import Wormhole

extension Realm {
  /// Publishes the next newest value, if it is one of this machine.
  func publishValue() -> Bool {
    guard let place = waitingValues.take({ _ in true }) else { return false }
    if let newest = ownNewest(of: place), let payload = RecordPayload(newest) {
      _ = publish(payload.body, as: .value(place), isRetained: true)
    }
    return true
  }

  func waitForUnconfirmedValues() {
    for channel in relay.channels.all
    where !channel.isLog && settings.groups.contains(channel.place.group) {
      let number = ownNewest(of: channel.place)?.number
      if number != nil, number != confirmedValues[channel.place] {
        waitingValues.append(channel.place)
      }
    }
    confirmedValues = [:]
  }

  private func ownNewest(of place: MessagePlace) -> Wormhole.NumberedRecord? {
    guard let newest = try? relay.channels.find(place)?.newest() else { return nil }
    return relay.origin(of: newest.record.sender.process) == relay.origin ? newest : nil
  }

  /// Stores a value of another machine if it is later than the newest one here. Of two that were
  /// passed at the same time, that of the larger origin wins, on every machine alike.
  func receive(
    _ payload: RecordPayload, of place: MessagePlace, in group: LocalGroup, by origin: Origin,
    isRetained: Bool
  ) {
    guard let channel = group.channel(place.name, isLog: false) else {
      return report("\(place.name) of \(place.group) has a log here, but none at \(origin)")
    }
    var isKnown = false
    do {
      let isStored = try channel.store(payload.record(from: origin)) { newest in
        guard let newest else { return true }
        let known = (newest.date.nanoseconds, relay.origin(of: newest.sender.process))
        isKnown = known == (payload.time, origin)
        return (payload.time, origin) > known
      }
      if isStored {
        counts.stored += 1
      } else if !isKnown, !isRetained {
        counts.superseded += 1
      }
    } catch {
      report("\(place.name) of \(place.group) cannot be stored: \(error)")
    }
  }
}
