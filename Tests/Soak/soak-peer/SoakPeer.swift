// A worker in Swift, which does one thing until it is killed.
//
//     soak-peer BOARD WORKER post
//     soak-peer BOARD WORKER observe inline|queue|sequence
//     soak-peer BOARD WORKER token
//     soak-peer BOARD WORKER call|serve
//     soak-peer BOARD WORKER pass|listen|resume newest|history
//     soak-peer pass-lines|hear-lines ...                  see MessageLines.swift

internal import Dispatch
internal import DarwinNotify
internal import SoakBoard
internal import Synchronization

@main
enum SoakPeer {
  static func main() throws {
    let words = CommandLine.arguments
    if try tellHistory(Array(words.dropFirst())) { dispatchMain() }
    soak_begin(words[1], UInt32(words[2]) ?? UInt32(SOAK_N_WORKERS))
    switch words[3] {
    case "post": soak_post(post)
    case "observe": try observe(words[4])
    case "token": try holdTokens()
    case "call": call()
    case "serve": serve()
    default: try exchange(words[3], words[4])
    }
    soak_ready()
    dispatchMain()
  }
}

/// What lives until the process ends; used by the main thread alone.
nonisolated(unsafe) var kept: [any Sendable] = []
// No other thread uses it.

func name(_ number: UInt32) -> NotificationName {
  NotificationName(String(cString: soak_name(number)))
}

let names = 0..<UInt32(SOAK_N_NAMES)

/// Is raised once.
final class Flag: Sendable {
  private let value = Atomic(false)

  var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }

  /// Tells whether it was raised before.
  @discardableResult func raise() -> Bool {
    value.exchange(true, ordering: .sequentiallyConsistent)
  }
}
