// Controls the player: remote-control search TEXT | play NUMBER [SECONDS [PATIENCE]] | watch

import Delegation
import Foundation
import PlayerRequests
import RemoteHandlers

@main
enum RemoteControl {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    let bus = HandlerBus()
    let player = RemoteDestination(playerName)
    do {
      switch (arguments.first, arguments.dropFirst().first) {
      case ("search", let text?):
        for track in try await bus.send(Search(text: text), to: player, timeout: .seconds(10)) {
          print("found \(track.number): \(track.title)")
        }
      case ("play", let number?):
        let numbers = arguments.dropFirst(2).compactMap { Double($0) }
        let play = Play(number: Int(number) ?? 0, seconds: numbers.first)
        let patience = Duration.seconds(numbers.dropFirst().first ?? 10)
        print("played \(try await bus.send(play, to: player, timeout: patience))")
      case ("watch", nil):
        for await availability in try player.availability() {
          print("the player is \(availability)")
          fflush(nil)
        }
      default:
        print("usage: remote-control search TEXT | play NUMBER [SECONDS [PATIENCE]] | watch")
        exit(64)
      }
    } catch PlayError.noSuchTrack(let number, let count) {
      print("error: there is no track \(number), only \(count)")
      exit(1)
    } catch {
      print("error: \(error)")
      exit(1)
    }
  }
}
