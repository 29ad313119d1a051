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
  func report(_ registration: any Registered, _ kind: Kind, _ event: DistributedEvent?) {
    let state = (registration as? NotifyToken).flatMap { try? $0.readState() }
    if let line = line(for: registration, kind, state, event) { Output.print(line) }
    hook?.run(for: registration.name, state: state, event)
  }

  /// Prints a line for a signal. In JSON the signal is part of the event.
  func reportSignal(_ number: CInt) {
    if printing != .nothing, !isJSON { Output.print("SIGNAL \(number)") }
  }

  private func line(
    for registration: any Registered, _ kind: Kind, _ state: UInt64?, _ event: DistributedEvent?
  ) -> String? {
    if printing == .nothing { return nil }
    if isJSON { return json(for: registration, kind, state, event).text }
    if printing == .key { return "\(registration.name)" }
    let contents = event.map(contents) ?? state.map { "\($0)" } ?? "?"
    return "[\(registration.rawValue)] \(now()) \(registration.name) \(contents) \(kind.label)"
  }

  private func contents(of event: DistributedEvent) -> String {
    let object = event.object.map { "object \(quotedIfNeeded($0))," }
    let userInfo = event.userInfo?.json.map { "user info \(printableJSON($0))," }
    return [object, userInfo].compactMap { $0 }.joined(separator: " ")
  }

  private func json(
    for registration: any Registered, _ kind: Kind, _ state: UInt64?, _ event: DistributedEvent?
  ) -> JSON {
    var members: [(String, JSON)] = [
      ("time", .number(now())),
      ("name", .string(registration.name.rawValue)),
      ("state", state.map { .string("\($0)") } ?? .null),
      ("token", .number(registration.rawValue)),
      ("type", .string(kind.label)),
    ]
    if let event {
      members.append(("object", event.object.map { .string($0) } ?? .null))
      members.append(("user_info", event.userInfo?.json.map { .raw($0) } ?? .null))
    }
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
