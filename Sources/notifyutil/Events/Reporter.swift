// Prints events.
import DarwinNotify
import Glibc

struct Reporter {
  let printing: Printing

  func report(_ token: NotifyToken, _ kind: Kind) {
    switch printing {
    case .nothing: break
    case .key: Output.print("\(token.name)")
    case .everything:
      Output.print(
        "[\(token.rawValue)] \(now()) \(token.name) \(state(of: token)) \(kind.label)")
    }
  }

  func reportSignal(_ number: CInt) {
    if printing != .nothing { Output.print("SIGNAL \(number)") }
  }

  /// Seconds since 1970, rounded to milliseconds.
  private func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let milliseconds = time.tv_sec * 1000 + (time.tv_nsec + 500_000) / 1_000_000
    return "\(milliseconds / 1000).\(padded(milliseconds % 1000, to: 3))"
  }

  private func state(of token: NotifyToken) -> String {
    do throws(NotifyError) {
      return "\(try token.readState())"
    } catch {
      return ": \(Failure.words(for: error))"
    }
  }
}
