// Presents the status of a relay as metrics.

import DarwinNotifySupport

/// The status in the text format of OpenMetrics 1.0.
struct Metrics {
  let status: Status

  var text: String { MetricFamily.text(of: relay + connections + counts + peers) }

  private static let prefix = "darwin_notify_relay"

  private var relay: [MetricFamily] {
    let labels = [("origin", status.origin), ("version", status.version), ("pid", "\(status.pid)")]
    return [
      MetricFamily(Self.prefix, .info, "The running relay.", [MetricFamily.Sample(labels, 1)]),
      MetricFamily(
        "\(Self.prefix)_names", .gauge, "Names of this machine that are shared.",
        [MetricFamily.Sample([], status.names)]),
      MetricFamily(
        "\(Self.prefix)_refused_names", .gauge, "Names of this machine that cannot be shared.",
        [MetricFamily.Sample([], status.refusedNames)]),
    ]
  }

  private var connections: [MetricFamily] {
    [
      family("online", .gauge, "Whether the realm exchanges messages with its broker.") {
        $0.state == .online ? 1 : 0
      },
      family("waiting_names", .gauge, "Names that wait to be published.", \.waitingNames),
      family("waiting_records", .gauge, "Names with messages that wait.", \.waitingRecords),
      family("underway", .gauge, "Messages that the broker has not confirmed.", \.underway),
    ]
  }

  private var counts: [MetricFamily] {
    [
      family("sent", .counter, "Messages to the broker.", \.counts.sent),
      family("received", .counter, "Messages from the broker.", \.counts.received),
      family("posted", .counter, "Posts of others that were posted here.", \.counts.posted),
      family("stored", .counter, "Records of others that were stored here.", \.counts.stored),
      family("superseded", .counter, "Records older than those here.", \.counts.superseded),
      family("repeated", .counter, "Records that came again.", \.counts.repeated),
      family("refused", .counter, "What the broker or this machine refused.", \.counts.refused),
      family("gaps", .counter, "How often the broker dropped messages.", \.counts.gaps),
      MetricFamily(
        "\(Self.prefix)_ignored", .counter, "Messages that were ignored.",
        status.realms.flatMap { realm in
          ignored(realm.counts).map { reason, count in
            MetricFamily.Sample([("realm", realm.name), ("reason", reason)], count)
          }
        }),
    ]
  }

  private func ignored(_ counts: Counts) -> [(String, Int)] {
    [
      ("malformed", counts.malformed), ("newer", counts.newer), ("too_large", counts.tooLarge),
      ("not_shared", counts.notShared),
    ]
  }

  private var peers: [MetricFamily] {
    func samples(_ value: (Status.PeerStatus) -> Int?) -> [MetricFamily.Sample] {
      status.realms.flatMap { realm in
        realm.peers.compactMap { peer in
          let labels = [("realm", realm.name), ("peer", peer.origin)]
          return value(peer).map { MetricFamily.Sample(labels, $0) }
        }
      }
    }
    return [
      MetricFamily(
        "\(Self.prefix)_peer_online", .gauge, "Whether the relay of another machine is online.",
        samples { $0.state == .online ? 1 : 0 }),
      MetricFamily(
        "\(Self.prefix)_peer_age_seconds", .gauge, "Seconds since a sign of it was seen.",
        samples { $0.age.map { Int($0) } }),
    ]
  }

  /// A family with a sample for each realm.
  private func family(
    _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ value: (Status.RealmStatus) -> Int
  ) -> MetricFamily {
    MetricFamily(
      "\(Self.prefix)_\(name)", kind, help,
      status.realms.map { MetricFamily.Sample([("realm", $0.name)], value($0)) })
  }
}
