// Answers other programs: what it has, and what they want to hear. Runs until it is terminated.

import Delegation
import Foundation
import PlayerRequests
import RemoteHandlers

@main
enum RemotePlayer {
  static let tracks = ["Blue in Green", "Naima", "Blue Train"].enumerated().map {
    Track(number: $0.offset + 1, title: $0.element)
  }

  static func main() async throws {
    let bus = HandlerBus()
    bus.handle(Search.self) { request in
      tracks.filter { $0.title.lowercased().contains(request.text.lowercased()) }
    }
    bus.handle(Play.self) { request in
      guard let track = tracks.first(where: { $0.number == request.number }) else {
        throw PlayError.noSuchTrack(number: request.number, count: tracks.count)
      }
      say("plays \(track.title) for process \(RemoteService.caller?.process ?? 0)")
      do {
        try await Task.sleep(for: .seconds(request.seconds ?? 0))
      } catch {
        say("stops \(track.title)")
        throw error
      }
      return track.title
    }
    let service = try await RemoteService(
      name: playerName, exporting: bus, [Search.self, Play.self])
    say("ready: \(service.hasName)")
    for await event in bus.trace() where event.kind == Search.kind {
      say("was asked: \(event.request)")
    }
  }

  static func say(_ text: String) {
    print(text)
    fflush(nil)
  }
}
