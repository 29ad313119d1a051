// DarwinNotify in Swift; the first argument says who hears: a closure, which is called directly
// (inline), on a queue (closure) or on the main queue (main-closure); or a sequence, which is read
// by a task (sequence), on the center's executor (executor) or on the main actor (main-sequence).
//
// A sequence keeps what its task has not taken yet as one event that counts the posts.

internal import BenchmarkSupport
internal import DarwinNotify
internal import PeerSupport

func name(_ text: UnsafePointer<CChar>?) -> NotificationName {
  NotificationName(text.map { String(cString: $0) } ?? "")
}

func observeWithClosure(
  _ text: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guarded {
    let heard = Heard(function, context)
    let center = DarwinNotificationCenter.shared
    observations.append(
      try center.observe(name(text), on: delivery) { heard($0.coalesced) })
  }
}

func observeWithSequence(
  _ text: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guarded {
    let heard = Heard(function, context)
    let center = DarwinNotificationCenter.shared
    let notifications = try center.notifications(named: name(text))
    if kind == "main-sequence" {
      Task { @MainActor in
        for await event in notifications { heard(event.coalesced) }
      }
    } else {
      Task(executorPreference: kind == "executor" ? center.taskExecutor : nil) {
        for await event in notifications { heard(event.coalesced) }
      }
    }
  }
}

@main
enum PeerSwift {
  static func main() {
    var peer = bench_peer()
    // No call just connects, so a name that nobody observes is posted.
    peer.connect = {
      guarded { try DarwinNotificationCenter.shared.post("org.example.bench.hello") }
    }
    if ["sequence", "executor", "main-sequence"].contains(kind) {
      peer.observe = observeWithSequence
    } else {
      peer.observe = observeWithClosure
    }
    peer.post = { text in guarded { try DarwinNotificationCenter.shared.post(name(text)) } }
    // If too many posts are waiting, they are merged by name, so this waits until none is left.
    peer.pace_each = pace
    run(peer)
  }
}
