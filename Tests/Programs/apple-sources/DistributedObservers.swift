// Observers of the distributed center, with objects and user infos.

#if canImport(DistributedNotifications)
  import DistributedNotifications
#endif
import Foundation

extension Notification.Name {
  static let track = Notification.Name("com.example.player.track")
}

/// One player among several, which the object tells apart.
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
  }

  deinit {
    observers.forEach { DistributedNotificationCenter.default().removeObserver($0) }
  }
}

func postTrack(_ player: String, _ title: String, number: Int) {
  DistributedNotificationCenter.default().postNotificationName(
    .track, object: player, userInfo: ["title": title, "number": number],
    deliverImmediately: true)
}
