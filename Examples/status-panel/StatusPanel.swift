// Shows what players publish.
//
//     swift run status-panel [number of lines to show]
import DistributedNotifications
import Foundation
import PlayerKit

@main
struct StatusPanel {
  static func main() async throws {
    let limit = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? .max
    let center = DistributedNotificationCenter.default()

    // A closure, as on macOS: it runs on the main queue.
    let observer = center.addObserver(forName: .playerStatus, object: "jukebox", queue: .main) {
      let title = $0.userInfo?["title"] as? String ?? ""
      say(title.isEmpty ? "jukebox: quiet" : "jukebox: \(title)")
    }
    defer { center.removeObserver(observer) }

    // A sequence: registered before it is returned. It merges nothing.
    let notifications = center.notifications(named: .playerStatus)
    say("ready")
    for await notification in notifications.prefix(limit) {
      show(notification)
    }
  }

  /// Any program can post the name: what is no status is shown as it is.
  static func show(_ notification: DistributedNotification) {
    let player = notification.object ?? "a player"
    guard let status = try? notification.value(as: PlayerStatus.self) else {
      return say("\(player) has sent \(notification.userInfo ?? [:])")
    }
    let song = "plays \(status.title), \(status.seconds) seconds"
    say("\(player) \(status.isPlaying ? song : "has stopped")")
  }
}
