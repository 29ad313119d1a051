// Knows the other origins of a realm.

import FoundationEssentials

/// Another origin.
struct Peer {
  /// Whether all that the broker kept of it when we met it is known. Until then what it has posted
  /// sets the baseline and is not posted here.
  var isKnown: Bool
  var state: PresencePayload.State?
  var version: String?
  /// When it was last heard of; `nil` if not since this program runs.
  var lastSign: Int64?
  /// The number of its last message.
  var serial: UInt64?
}

extension Realm {
  /// Reads which origins were met in earlier runs.
  func beginPeers() throws {
    peers = try relay.store.origins(in: settings.name).mapValues { Peer(isKnown: $0) }
  }

  /// A bound for the memory that strangers can make us use.
  private static let maxPeers = 4096

  /// Notes a sign of life. Returns whether the origin is one that is heard.
  func meet(_ origin: Origin) -> Bool {
    if peers[origin] == nil {
      guard peers.count < Self.maxPeers else {
        counts.refused += 1
        report("new machines are not heard: there are \(peers.count) already")
        return false
      }
      peers[origin] = Peer(isKnown: false)
      metNow[origin] = Date.nowNanoseconds
      relay.keeping {
        try relay.store.set(origin, isKnown: false, in: settings.name)
        try relay.store.commit()
      }
    }
    peers[origin]?.lastSign = Date.nowNanoseconds
    return true
  }

  /// All that the broker keeps has arrived.
  func knowPeers() {
    for (origin, peer) in peers where peer.state != .joining { know(origin) }
  }

  private func know(_ origin: Origin) {
    guard peers[origin]?.isKnown == false else { return }
    peers[origin]?.isKnown = true
    relay.keeping {
      try relay.store.set(origin, isKnown: true, in: settings.name)
      try relay.store.commit()
    }
  }

  /// Notices that the broker has dropped messages, since its queue for us was full. A relay that
  /// only sends gets no more than the presence of others.
  func checkSerial(_ serial: UInt64, of origin: Origin, begins: Bool) {
    defer { peers[origin]?.serial = serial }
    guard let last = peers[origin]?.serial, serial > last, !begins else { return }
    if serial - last > 1, settings.receives { subscribeAgain() }
  }

  func receivePresence(_ presence: PresencePayload, by origin: Origin, isRetained: Bool) {
    peers[origin]?.state = presence.state
    peers[origin]?.version = presence.version
    guard presence.state == .online else { return }
    if state == .online { know(origin) }
    if !isRetained { askAgain(origin) }
  }
}
