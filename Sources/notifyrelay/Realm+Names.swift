// Shares posts with the other machines of a realm.

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
    held.raise(to: payload.count, isFirstContact: joinedAt == nil)
    if payload.count == held.count { confirmedNames[name] = payload.count }
  }

  func waitForUnconfirmedNames() {
    for name in relay.names.posted.sorted() where settings.shares(name) {
      if relay.names.find(name)?.count != confirmedNames[name] { waitingNames.append(name) }
    }
    confirmedNames = [:]
  }

  /// Takes note of how often an origin has posted a name. The first contact sets the baseline.
  func receive(_ name: String, _ payload: NamePayload, by origin: Origin, isRetained: Bool) {
    // notify(3) refuses it, and it would take memory until it is posted.
    guard name.utf8.count <= 511 else { return counts.malformed += 1 }
    let key = NameKey(name: name, origin: origin)
    guard isBaseline(payload, of: origin, isRetained: isRetained) else {
      if payload.count >= arrivedNames[key]?.count ?? 0 { arrivedNames[key] = payload }
      return
    }
    relay.keeping {
      guard try relay.store.seen(name, by: origin, in: settings.name) == nil else {
        return arrivedNames[key] = payload
      }
      guard let held = findForeign(name) else { return }
      try relay.names.take(payload.taken(from: origin), of: held, own: relay.origin)
      try relay.store.setSeen(payload.count, of: name, by: origin, in: settings.name)
    }
  }

  /// Posts the names that other origins have posted since they were last heard of, each once. While
  /// we join, the broker may send several counts of a name, one after the other; only a limit of
  /// memory is a reason not to wait for the last. Returns the names that were posted.
  func postArrivedNames() -> [String] {
    guard state != .joining || arrivedNames.count > LocalNames.maxCount, !arrivedNames.isEmpty
    else { return [] }
    defer { arrivedNames = [:] }
    return relay.keeping {
      try arrivedNames.filter { try post($0.key, $0.value) }.keys.map(\.name)
    }
  }

  /// Returns a name of another origin; `nil` if there are too many.
  private func findForeign(_ name: String) -> HeldName? {
    if let held = relay.names.find(name, isForeign: true) { return held }
    counts.refused += 1
    report(
      "names of others are not posted here: there are \(LocalNames.maxForeignCount) already, or "
        + "notify(3) refuses them")
    return nil
  }

  /// Returns whether the name was posted.
  private func post(_ key: NameKey, _ payload: NamePayload) throws -> Bool {
    let seen =
      try seenNames[key] ?? relay.store.seen(key.name, by: key.origin, in: settings.name)
    guard seen.map({ payload.count > $0 }) ?? true else { return false }
    guard let held = findForeign(key.name) else { return false }
    try relay.names.take(payload.taken(from: key.origin), of: held, own: relay.origin)
    try relay.store.setSeen(payload.count, of: key.name, by: key.origin, in: settings.name)
    if seenNames.count >= LocalNames.maxCount { seenNames = [:] }
    seenNames[key] = payload.count
    guard payload.count > 0 else { return false }
    // Last: the observers may have to wait until this thread yields the processor.
    held.post()
    counts.posted += 1
    return true
  }

  /// Whether an origin has posted this before we met it. The time matters only if the broker has
  /// dropped messages and we ask again for what it keeps.
  private func isBaseline(
    _ payload: NamePayload, of origin: Origin, isRetained: Bool
  ) -> Bool {
    if peers[origin]?.isKnown != true { return true }
    return isRetained && payload.posted <= metNow[origin] ?? .min
  }
}

extension NamePayload {
  fileprivate func taken(from origin: Origin) -> TakenState {
    TakenState(state: state, set: stateSet, origin: origin)
  }
}

/// A name of another origin.
struct NameKey: Hashable {
  let name: String
  let origin: Origin
}
