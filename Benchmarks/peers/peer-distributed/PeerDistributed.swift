// DistributedNotifications: posts with a user info of five keys, which the receiver decodes. The
// first argument says who hears: a closure, which is called inline (inline) or on a queue
// (closure), or a sequence.

internal import BenchmarkSupport
internal import DistributedNotifications
internal import Foundation
internal import PeerSupport

let center = DistributedNotificationCenter.default()

func name(_ text: UnsafePointer<CChar>?) -> Notification.Name {
  Notification.Name(text.map { String(cString: $0) } ?? "")
}

/// Notes a post when its user info has been read.
func read(_ notification: DistributedNotification, _ heard: Heard) {
  guard let userInfo = notification.userInfo, userInfo["title"] is String,
    userInfo["artist"] is String, userInfo["seconds"] is Double, userInfo["track"] is Int,
    userInfo["playing"] is Bool
  else { return }
  heard(1)
}

func observe(
  _ text: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guarded {
    let heard = Heard(function, context)
    guard kind == "sequence" else {
      observations.append(try center.observe(name(text), on: delivery) { read($0, heard) })
      return
    }
    let notifications = center.notifications(named: name(text))
    Task {
      for await notification in notifications { read(notification, heard) }
    }
  }
}

func post(_ text: UnsafePointer<CChar>?) -> Int32 {
  guarded {
    try center.post(
      name(text),
      userInfo: [
        "title": "Naima", "artist": "John Coltrane", "seconds": 261.5, "track": 3, "playing": true,
      ])
  }
}

@main
enum PeerDistributed {
  static func main() {
    var peer = bench_peer()
    // There is no call that connects; a post does, of a name that nobody observes.
    peer.connect = {
      guarded { try center.post(Notification.Name("org.example.bench.hello"), userInfo: nil) }
    }
    peer.observe = observe
    peer.post = post
    peer.pace = pace
    run(peer)
  }
}
