// Prints events.
import DarwinNotify
import Glibc

struct Reporter {
  private let printing: Printing
  private let isJSON: Bool
  private let hook: Hook?

  init(settings: Settings, failures: Failures) {
    printing = settings.printing
    isJSON = settings.isJSON
    hook = settings.hook.map { Hook(command: $0, failures: failures) }
  }

  /// Prints an event and runs the command for it.
  func report(_ token: NotifyToken, _ kind: Kind) {
    let state = try? token.readState()
    if let line = line(for: token, kind, state) { Output.print(line) }
    hook?.run(for: token, state: state)
  }

  /// Prints a line for a signal. In JSON the signal is part of the event.
  func reportSignal(_ number: CInt) {
    if printing != .nothing, !isJSON { Output.print("SIGNAL \(number)") }
  }

  private func line(for token: NotifyToken, _ kind: Kind, _ state: UInt64?) -> String? {
    if printing == .nothing { return nil }
    if isJSON { return json(for: token, kind, state).text }
    if printing == .key { return "\(token.name)" }
    let state = state.map { "\($0)" } ?? "?"
    return "[\(token.rawValue)] \(now()) \(token.name) \(state) \(kind.label)"
  }

  private func json(for token: NotifyToken, _ kind: Kind, _ state: UInt64?) -> JSON {
    var members: [(String, JSON)] = [
      ("time", .number(now())),
      ("name", .string(token.name.rawValue)),
      ("state", state.map { .string("\($0)") } ?? .null),
      ("token", .number(token.rawValue)),
      ("type", .string(kind.label)),
    ]
    if case .signal(let number) = kind { members.append(("signal", .number(number))) }
    return .object(members)
  }

  /// Seconds since 1970, rounded to milliseconds.
  private func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let milliseconds = time.tv_sec * 1000 + (time.tv_nsec + 500_000) / 1_000_000
    return "\(milliseconds / 1000).\(padded(milliseconds % 1000, to: 3))"
  }
}
