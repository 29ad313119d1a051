// DistributedNotifications: posts with a user info of five keys, which the receiver decodes. The
// first argument says who hears: a closure, which is called directly (direct) or on a queue
// (closure), or a sequence.

internal import BenchmarkSupport
internal import DistributedNotifications
internal import Dispatch
internal import Foundation

/// The C function that notes a post, with what it has to be handed.
struct Heard: Sendable {
  let function: bench_heard
  nonisolated(unsafe) let context: UnsafeMutableRawPointer?
  // C allows it on any thread.

  init(_ function: bench_heard?, _ context: UnsafeMutableRawPointer?) {
    guard let function else { preconditionFailure("nobody to call") }
    self.function = function
    self.context = context
  }

  /// Notes a post when its user info has been read.
  func callAsFunction(_ notification: DistributedNotification) {
    guard let userInfo = notification.userInfo, userInfo["title"] is String,
      userInfo["artist"] is String, userInfo["seconds"] is Double, userInfo["track"] is Int,
      userInfo["playing"] is Bool
    else { return }
    function(context, 1)
  }
}

/// What the observers that live until the process ends are kept in; used by the main thread alone.
nonisolated(unsafe) var observations: [NotificationObservation] = []
// The commands register one after the other, before they wait.

let center = DistributedNotificationCenter.default()
let kind = CommandLine.arguments.dropFirst().first
let delivery = kind == "direct" ? Delivery.direct : .queue(DispatchQueue(label: "bench"))

/// Runs what may throw; tells C of it by a number.
func guarded(_ work: () throws -> Void) -> Int32 {
  do {
    try work()
    return 0
  } catch {
    print("error: \(error)")
    return -1
  }
}

func name(_ text: UnsafePointer<CChar>?) -> Notification.Name {
  Notification.Name(text.map { String(cString: $0) } ?? "")
}

func observe(
  _ text: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guarded {
    let heard = Heard(function, context)
    guard kind == "sequence" else {
      observations.append(try center.observe(name(text), on: delivery) { heard($0) })
      return
    }
    let notifications = try center.notifications(named: name(text))
    Task {
      for await notification in notifications { heard(notification) }
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

/// Waits, with pauses, until nothing is left to be written.
func pace() -> Int32 {
  guarded {
    while true {
      do throws(DarwinNotifyError) {
        return try DarwinNotificationCenter.shared.flush(timeout: .zero)
      } catch .timedOut {
        usleep(50)
      }
    }
  }
}

@main
enum PeerDistributed {
  static func main() {
    var peer = bench_peer()
    peer.open = { 0 }
    // There is no call that connects; a post does, of a name that nobody observes.
    peer.connect = {
      guarded { try center.post(Notification.Name("org.example.bench.hello"), userInfo: nil) }
    }
    peer.observe = observe
    peer.post = post
    peer.pace = pace
    peer.flush = { guarded { try DarwinNotificationCenter.shared.flush(timeout: .seconds(10)) } }
    exit(bench_main(CommandLine.argc - 1, CommandLine.unsafeArgv + 1, &peer))
  }
}
