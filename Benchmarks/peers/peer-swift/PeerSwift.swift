// DarwinNotify in Swift; the first argument says who hears: a closure, which is called directly
// (direct) or on a queue (closure), or a sequence.
//
// A sequence keeps what its task has not taken yet as one event that counts the posts.

internal import BenchmarkSupport
internal import DarwinNotify
internal import Dispatch
internal import Glibc

/// The C function that records a post, with its argument.
struct Heard: Sendable {
  let function: bench_heard
  nonisolated(unsafe) let context: UnsafeMutableRawPointer?
  // C allows it on any thread.

  init(_ function: bench_heard?, _ context: UnsafeMutableRawPointer?) {
    guard let function else { preconditionFailure("nobody to call") }
    self.function = function
    self.context = context
  }

  func callAsFunction(_ event: NotificationEvent) {
    function(context, UInt64(event.coalesced))
  }
}

/// Keeps the observers until the process ends; used only by the main thread.
nonisolated(unsafe) var observations: [NotificationObservation] = []
// The commands register one after the other, before they wait.

let kind = CommandLine.arguments.dropFirst().first
let delivery = kind == "direct" ? Delivery.direct : .queue(DispatchQueue(label: "bench"))

/// Runs what may throw; returns a number to C.
func guarded(_ work: () throws -> Void) -> Int32 {
  do {
    try work()
    return 0
  } catch {
    print("error: \(error)")
    return -1
  }
}

func name(_ text: UnsafePointer<CChar>?) -> NotificationName {
  NotificationName(text.map { String(cString: $0) } ?? "")
}

func observeWithClosure(
  _ text: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guarded {
    let heard = Heard(function, context)
    let center = DarwinNotificationCenter.shared
    observations.append(try center.observe(name(text), on: delivery) { heard($0) })
  }
}

func observeWithSequence(
  _ text: UnsafePointer<CChar>?, _ function: bench_heard?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
  guarded {
    let heard = Heard(function, context)
    let notifications = try DarwinNotificationCenter.shared.notifications(named: name(text))
    Task {
      for await event in notifications { heard(event) }
    }
  }
}

/// What waits is merged by name: waits, with pauses, until nothing does.
func paceEach() -> Int32 {
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
enum PeerSwift {
  static func main() {
    var peer = bench_peer()
    peer.open = { 0 }
    // No call just connects, so a name that nobody observes is posted.
    peer.connect = {
      guarded { try DarwinNotificationCenter.shared.post("org.example.bench.hello") }
    }
    if kind == "sequence" {
      peer.observe = observeWithSequence
    } else {
      peer.observe = observeWithClosure
    }
    peer.post = { text in guarded { try DarwinNotificationCenter.shared.post(name(text)) } }
    peer.pace_each = paceEach
    peer.flush = { guarded { try DarwinNotificationCenter.shared.flush(timeout: .seconds(10)) } }
    exit(bench_main(CommandLine.argc - 1, CommandLine.unsafeArgv + 1, &peer))
  }
}
