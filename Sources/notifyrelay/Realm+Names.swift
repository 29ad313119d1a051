// Publishes how often names were posted here, and posts those that were posted elsewhere.

extension Realm {
  /// A name was posted by a program of this machine.
  func hasPosted(_ name: String) {
    if settings.sends, settings.shares(name) { waitingNames.append(name) }
  }

  /// Publishes the next name. The last message of a name must be confirmed before another follows:
  /// in a flood its posts are merged.
  func publishName() -> Bool {
    let underway = namesUnderway
    guard let name = waitingNames.take({ !underway.contains($0) }) else { return false }
    if let held = relay.names.find(name) {
      if publish(held.payload.body, as: .name(name), isRetained: true) != nil {
        namesUnderway.insert(name)
      }
    }
    return true
  }

  /// The broker keeps this of one of our names.
  func confirmName(_ name: String, _ payload: NamePayload) {
    guard settings.shares(name), let held = relay.names.find(name) else { return }
    held.raise(to: payload.count)
    if payload.count == held.count { confirmedNames[name] = payload.count }
  }

  func waitForUnconfirmedNames() {
    for name in relay.names.posted.sorted() where settings.shares(name) {
      if relay.names.find(name)?.count != confirmedNames[name] { waitingNames.append(name) }
    }
    confirmedNames = [:]
  }

  /// Posts a name if its origin has posted it since it was last heard of.
  func receive(_ name: String, _ payload: NamePayload, by origin: Origin, isRetained: Bool) {
    relay.keeping {
      let known = try relay.store.seen(name, by: origin, in: settings.name)
      // What is known of an origin when it is first met sets the baseline.
      let seen = known ?? (isBaseline(of: origin, isRetained: isRetained) ? payload.count : 0)
      guard payload.count > seen || known == nil else { return }
      guard let held = relay.names.find(name) else { return counts.refused += 1 }
      held.take(payload.state, set: payload.stateSet, by: origin, own: relay.origin)
      if payload.count > seen {
        held.post()
        counts.posted += 1
      }
      try relay.store.setSeen(payload.count, of: name, by: origin, in: settings.name)
    }
  }
}
