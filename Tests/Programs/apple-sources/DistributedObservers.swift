// Observers of the distributed center, with objects and user infos.

#if canImport(DistributedNotifications)
  import DistributedNotifications
#endif
import Foundation

extension Notification.Name {
  static let track = Notification.Name("com.example.player.track")
}

/// One player among several, identified by the object.
final class PlayerObserver {
  private var observers: [NSObjectProtocol] = []

  init(_ player: String?, handler: @escaping @Sendable (String, Int) -> Void) {
    observers.append(
      DistributedNotificationCenter.default().addObserver(
        forName: .track, object: player, queue: .main
      ) { notification in
        guard let userInfo = notification.userInfo,
          let title = userInfo["title"] as? String, let number = userInfo["number"] as? Int
        else { return }
        handler("\(notification.object as? String ?? "-"): \(title)", number)
      })
    // The block may be a function, the name and the queue `nil`.
    observers.append(
      DistributedNotificationCenter.default().addObserver(
        forName: nil, object: "everywhere", queue: nil, using: Self.notice))
    DistributedNotificationCenter.default().suspended = false
  }

  private static func notice(_ notification: Notification) {
    print("noticed \(notification.name.rawValue)")
  }

  deinit {
    observers.forEach { DistributedNotificationCenter.default().removeObserver($0) }
  }
}

func postTrack(_ player: String, _ title: String, number: Int) {
  let userInfo: [AnyHashable: Any] = ["title": title, "number": number]
  let center = DistributedNotificationCenter.default()
  center.postNotificationName(.track, object: player, userInfo: userInfo, deliverImmediately: true)
  center.postNotificationName(
    .track, object: player, userInfo: userInfo, options: [.deliverImmediately])
  center.post(name: .track, object: player, userInfo: userInfo)
}

/// The titles that a player announces, as long as the task is not cancelled.
func followTitles(
  of player: String, handler: @escaping @Sendable (String) -> Void
) -> Task<Void, Never> {
  let center = DistributedNotificationCenter.default()
  let titles = center.notifications(named: .track, object: player).compactMap {
    $0.userInfo?["title"] as? String
  }
  return Task {
    for await title in titles { handler(title) }
  }
}
