// What the contenders in Swift share: the observers, and what they report to C.

package import BenchmarkSupport
package import DarwinNotify
internal import Dispatch
internal import Glibc

/// The C function that records posts, with its argument.
package struct Heard: Sendable {
  private let function: bench_heard
  private nonisolated(unsafe) let context: UnsafeMutableRawPointer?
  // C allows it on any thread.

  package init(_ function: bench_heard?, _ context: UnsafeMutableRawPointer?) {
    guard let function else { preconditionFailure("nobody to call") }
    self.function = function
    self.context = context
  }

  package func callAsFunction(_ posts: Int) {
    function(context, UInt64(posts))
  }
}

/// Keeps the observers until the process ends; used only by the thread of the commands.
package nonisolated(unsafe) var observations: [NotificationObservation] = []
// The commands register one after the other, before they wait.

/// Who hears: a closure, which is called inline (inline), on a queue (closure) or on the main queue
/// (main-closure), or a sequence.
package let kind = CommandLine.arguments.dropFirst().first
package let delivery: Delivery =
  switch kind {
  case "inline": .inline
  case "main-closure": .main
  default: .queue(DispatchQueue(label: "bench"))
  }

/// Runs what may throw; returns a number to C.
package func guarded(_ work: () throws -> Void) -> Int32 {
  do {
    try work()
    return 0
  } catch {
    print("error: \(error)")
    return -1
  }
}

/// Waits, with pauses, until nothing is left to be written.
package func pace() -> Int32 {
  guarded {
    while true {
      do {
        return try DarwinNotificationCenter.shared.flush(timeout: .zero)
      } catch DarwinNotifyError.timedOut {
        usleep(50)
      }
    }
  }
}

/// Runs the commands of a contender, and ends the process. Kinds that begin with "main" leave the
/// main thread to those who hear.
package func run(_ peer: bench_peer) -> Never {
  if kind?.hasPrefix("main") == true {
    DispatchQueue(label: "bench commands").async { runCommands(peer) }
    dispatchMain()
  }
  runCommands(peer)
}

private func runCommands(_ peer: bench_peer) -> Never {
  var peer = peer
  peer.open = { 0 }
  peer.flush = { guarded { try DarwinNotificationCenter.shared.flush(timeout: .seconds(60)) } }
  exit(bench_main(CommandLine.argc - 1, CommandLine.unsafeArgv + 1, &peer))
}
