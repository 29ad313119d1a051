// Describes what a relay does.

import DarwinNotify
import FoundationEssentials

/// The counts of a realm since the relay was started.
struct Counts: Codable, Equatable {
  /// Messages to and from the broker.
  var sent = 0
  var received = 0
  /// Posts of others that were posted here.
  var posted = 0
  /// Records of others that were stored here.
  var stored = 0
  /// Records of others that were older than the newest one here.
  var superseded = 0
  /// Records that came again.
  var repeated = 0
  /// Messages that were ignored.
  var malformed = 0
  var newer = 0
  var tooLarge = 0
  var notShared = 0
  /// What the broker has refused, or this machine could not take.
  var refused = 0
  /// How often the broker had dropped messages.
  var gaps = 0
}

/// The answer to `--status`.
struct Status: Codable {
  /// How it is printed.
  enum Format {
    case text
    case json
    case metrics
  }

  var version: String
  var origin: String
  var pid: Int32
  /// The names of this machine that are shared.
  var names: Int
  /// The names that cannot be shared.
  var refusedNames: Int
  var realms: [RealmStatus]

  struct RealmStatus: Codable {
    var name: String
    var broker: String
    var state: Realm.State
    /// The last problem.
    var problem: String?
    var peers: [PeerStatus]
    /// What waits to be published.
    var waitingNames: Int
    var waitingRecords: Int
    var underway: Int
    var counts: Counts
  }

  struct PeerStatus: Codable {
    var origin: String
    var state: PresencePayload.State?
    var version: String?
    /// Seconds since it was last seen.
    var age: Double?
  }
}

extension Status {
  init(_ relay: Relay) {
    version = DarwinNotificationCenter.libraryVersion
    origin = "\(relay.origin)"
    pid = ProcessInfo.processInfo.processIdentifier
    names = relay.names.count
    refusedNames = relay.names.refused
    realms = relay.realms.map(\.status)
  }

  /// The answer for people.
  var text: String {
    var lines = ["origin \(origin), version \(version), pid \(pid), \(names) names"]
    if refusedNames > 0 { lines.append("  not shared: \(refusedNames) names") }
    for realm in realms {
      lines.append("realm \(realm.name) at \(realm.broker): \(realm.state.rawValue)")
      if let problem = realm.problem { lines.append("  problem: \(problem)") }
      for peer in realm.peers {
        let age = peer.age.map { ", last seen \(Int($0)) s ago" } ?? ""
        lines.append("  peer \(peer.origin): \(peer.state?.rawValue ?? "not seen")\(age)")
      }
      let counts = realm.counts
      lines.append(
        "  waiting: \(realm.waitingNames) names, \(realm.waitingRecords) names with messages; "
          + "underway: \(realm.underway)")
      lines.append(
        "  sent \(counts.sent), received \(counts.received); posted \(counts.posted), stored "
          + "\(counts.stored), superseded \(counts.superseded), repeated \(counts.repeated)")
      lines.append(
        "  ignored: \(counts.malformed) malformed, \(counts.newer) of a newer version, "
          + "\(counts.tooLarge) too large, \(counts.notShared) not shared; refused "
          + "\(counts.refused); dropped by the broker \(counts.gaps) times")
    }
    return lines.joined(separator: "\n")
  }
}

extension Realm {
  fileprivate var status: Status.RealmStatus {
    let now = Date.nowNanoseconds
    let peers = peers.sorted { $0.key < $1.key }.map { origin, peer in
      Status.PeerStatus(
        origin: "\(origin)", state: peer.state, version: peer.version,
        age: peer.lastSign.map { Double(now - $0) / 1e9 })
    }
    return Status.RealmStatus(
      name: settings.name, broker: "\(settings.broker)", state: state,
      problem: problem, peers: peers, waitingNames: waitingNames.count,
      waitingRecords: waitingRecords.count, underway: underwayCount, counts: counts)
  }
}
