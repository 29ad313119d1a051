// Publishes the status of a player, which status-panel shows.
//
//     swift run player-status jukebox play Naima 261.5
//     swift run player-status jukebox stop
import DistributedNotifications
import Foundation
import PlayerKit

@main
struct PlayerStatusCommand {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let center = DistributedNotificationCenter.default()
    for await isOnBus in try center.busStates() {
      if isOnBus { break }
      say("there is no bus yet")
    }
    switch arguments.dropFirst().first {
    case "play" where arguments.count == 4:
      // A value: other programs see it as a dictionary.
      let status = PlayerStatus(
        title: arguments[2], seconds: Double(arguments[3]) ?? 0, isPlaying: true)
      try center.post(.playerStatus, status, object: arguments[0])
    case "stop" where arguments.count == 2:
      // The same as a dictionary, with the signature that macOS has.
      center.postNotificationName(
        .playerStatus, object: arguments[0],
        userInfo: ["title": "", "seconds": 0.0, "isPlaying": false], deliverImmediately: true)
    default:
      say("usage: player-status PLAYER play TITLE SECONDS | PLAYER stop")
      exit(1)
    }
    say("posted by \(ProcessInfo.processInfo.processIdentifier)")
  }
}
