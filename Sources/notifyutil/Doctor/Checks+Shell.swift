// Checks the bus and the table of this shell.

import DarwinNotify

extension Checks {
  @Sendable static func localName(_ scene: Scene) -> [Finding] {
    guard scene.isLocal else { return [] }
    return [
      Finding(
        check: "local-name", certainty: .seen,
        sentence: "a post of \(scene.quotedName) stays in its process, like all names that begin "
          + "with self.",
        remedy: "choose another name, in the posting program and in the observer")
    ]
  }

  /// Prefixes of the names that Apple's systems post themselves.
  private static let systemPrefixes = [
    "com.apple.iokit.", "com.apple.sessionagent.", "com.apple.springboard.", "com.apple.system.",
  ]

  @Sendable static func missingAgent(_ scene: Scene) -> [Finding] {
    guard let name = scene.name, Self.systemPrefixes.contains(where: name.rawValue.hasPrefix),
      !scene.processes.contains(where: { $0.program == "notifyagent" && scene.sharesTable($0) })
    else { return [] }
    return [
      Finding(
        check: "missing-agent", certainty: .inferred,
        sentence: "no notifyagent shares the table of this shell, so nobody posts "
          + "\(scene.quotedName) for the system",
        remedy: "start it: systemctl --user enable --now notifyagent; notifyagent --list shows "
          + "what it posts")
    ]
  }

  @Sendable static func refusedName(_ scene: Scene) -> [Finding] {
    guard let refusal = scene.refusal else { return [] }
    return [
      Finding(
        check: "refused-name", certainty: .seen,
        sentence: "this user cannot post \(scene.quotedName): \(refusal)",
        remedy: "post it as a user who may, or choose another name")
    ]
  }

  @Sendable static func unreachableBus(_ scene: Scene) -> [Finding] {
    let bus = scene.bus
    if bus.answer == .notChosen, !bus.origin.hasSuffix("'none'") {
      return [
        Finding(
          check: "unreachable-bus", certainty: .seen,
          sentence: "this shell has no message bus: \(bus.origin)", remedy: remedy(scene))
      ]
    }
    guard bus.answer == .unreachable, !bus.isConnected, otherDirectory(scene).isEmpty else {
      return []
    }
    return [
      Finding(
        check: "unreachable-bus", certainty: .seen,
        sentence: "no message bus answers at \(printable(bus.address)) (\(bus.origin)): "
          + bus.reason,
        remedy: remedy(scene))
    ]
  }

  /// Names the bus that other processes of the user are on, if there is one.
  private static func remedy(_ scene: Scene) -> String {
    let likely =
      scene.concerned
      + scene.processes.filter {
        $0.user == scene.user && $0.mountNamespace == scene.mountNamespace
      }
    let other = likely.first {
      $0.bus.filter == nil && $0.bus.socket?.hasPrefix("/") ?? false
    }
    guard let other,
      let socket = other.bus.socket
    else { return scene.bus.advice }
    return "\(other.label) is on another bus: set "
      + "DBUS_SESSION_BUS_ADDRESS=unix:path=\(printable(socket)) if it is the right one"
  }

  @Sendable static func silentBus(_ scene: Scene) -> [Finding] {
    guard scene.bus.answer == .silent else { return [] }
    let server = scene.bus.server ?? "its process"
    return [
      Finding(
        check: "silent-bus", certainty: .seen,
        sentence: "the message bus at \(printable(scene.bus.address)) accepts connections, "
          + "but does not answer: \(server)",
        remedy: "see whether it is stopped (kill -CONT continues it) or overloaded")
    ]
  }

  @Sendable static func refusingBus(_ scene: Scene) -> [Finding] {
    let bus = scene.bus
    guard bus.answer == .refusesUser || (bus.answer == .answers && !bus.isConnected),
      bus.filter == nil
    else { return [] }
    return [
      Finding(
        check: "refusing-bus", certainty: .seen,
        sentence: "the message bus at \(printable(bus.address)) does not accept this program: "
          + reasonOfRefusal(scene),
        remedy: "use the bus of this user, or change the policy of the bus")
    ]
  }

  private static func reasonOfRefusal(_ scene: Scene) -> String {
    if let owner = scene.bus.owner, owner != scene.user, !scene.bus.isForAllUsers {
      return "it is the bus of the user \(owner), and this shell belongs to \(scene.user)"
    }
    return scene.bus.answer == .refusesUser
      ? "it refuses the user \(scene.user)" : "it answers, but nothing can register there"
  }

  @Sendable static func filteredShell(_ scene: Scene) -> [Finding] {
    guard let filter = scene.bus.filter else { return [] }
    return [
      Finding(
        check: "filtered-shell", certainty: .seen,
        sentence: "this shell reaches the message bus through \(filter), "
          + "which lets no posts from outside in",
        remedy: sandboxRemedy)
    ]
  }

  static let sandboxRemedy =
    "use the bus itself; a Flatpak needs the permission --socket=session-bus"

  @Sendable static func refusedRules(_ scene: Scene) -> [Finding] {
    guard scene.bus.refusesRules else { return [] }
    return [
      Finding(
        check: "refused-rules", certainty: .seen,
        sentence: "the message bus at \(printable(scene.bus.address)) refuses match rules",
        remedy: "raise max_match_rules_per_connection in its configuration, "
          + "or end connections that have too many")
    ]
  }

  @Sendable static func unusableTable(_ scene: Scene) -> [Finding] {
    guard !scene.table.isUsable else { return [] }
    let complaint = scene.table.complaints.last {
      $0.contains("table") || $0.contains("futexes")
    }
    let reason = complaint.map { ": \($0)" } ?? ""
    return [
      Finding(
        check: "unusable-table", certainty: .seen,
        sentence: "this shell cannot use the table of its bus, \(way(scene))\(reason)",
        remedy: complaint?.contains("futexes") == true
          ? "allow the system call futex, which a sandbox or container forbids"
          : "the table needs a private directory that the user can write to: next to the "
            + "socket of the bus, XDG_RUNTIME_DIR, /run/user/\(scene.user) or /dev/shm")
    ]
  }

  @Sendable static func fullTable(_ scene: Scene) -> [Finding] {
    guard let table = scene.table.content else { return [] }
    let isFull = table.usedEntries >= table.entries
    guard isFull || !table.hasRoom else { return [] }
    return [
      Finding(
        check: "full-table", certainty: .seen,
        sentence: isFull
          ? "all \(table.entries) entries for processes in the table are in use, \(way(scene))"
          : "the table has no slot left for \(scene.quotedName) "
            + "(\(table.namedSlots) of \(table.slots) have a name), \(way(scene))",
        remedy: isFull
          ? "end processes that observe, or put some of them on another bus"
          : "register fewer names; notifyutil --list shows who holds them")
    ]
  }

  /// What is left without the table.
  private static func way(_ scene: Scene) -> String {
    scene.bus.isConnected
      ? "so posts travel over the message bus alone" : "and no message bus takes its place"
  }
}
