// Shares the newest values of message names.

import Wormhole

extension Realm {
  /// Publishes the next newest value, if it is one of this machine.
  func publishValue() -> Bool {
    guard let address = waitingValues.take({ _ in true }) else { return false }
    do {
      if let newest = try ownNewest(of: address), let payload = RecordPayload(newest) {
        _ = publish(payload.body, as: .value(address), isRetained: true)
      }
    } catch {
      readLater(address, error)
    }
    return true
  }

  func waitForUnconfirmedValues() {
    for channel in relay.channels.all
    where !channel.isLog && settings.groups.contains(channel.address.group) {
      do {
        let number = try ownNewest(of: channel.address)?.number
        if number != nil, number != confirmedValues[channel.address] {
          waitingValues.append(channel.address)
        }
      } catch {
        readLater(channel.address, error)
      }
    }
    confirmedValues = [:]
  }

  private func ownNewest(of address: MessageAddress) throws -> Wormhole.NumberedRecord? {
    guard let newest = try relay.channels.find(address)?.newest() else { return nil }
    return relay.origin(of: newest.record.sender.process) == relay.origin ? newest : nil
  }

  /// Stores a value of another machine if it is later than the newest one here. Of two that were
  /// passed at the same time, that of the larger origin wins, on every machine alike.
  func receive(
    _ payload: RecordPayload, of address: MessageAddress, in group: LocalGroup, by origin: Origin,
    isRetained: Bool
  ) {
    guard let channel = group.channel(address.name, isLog: false) else {
      return report("\(address.name) of \(address.group) has a log here, but none at \(origin)")
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
        // If its clock is behind, the other machine has replaced our value with an earlier one. A
        // value is only published again for an earlier one, so this ends.
        hasChanged(channel)
      }
    } catch {
      report("\(address.name) of \(address.group) cannot be stored: \(error)")
      // A program has locked the mailbox for ten seconds. The broker still has the value. Other
      // errors last longer: there the value waits for the next connection.
      if case WormholeError.busy = error { subscribeSoon() }
    }
  }
}
