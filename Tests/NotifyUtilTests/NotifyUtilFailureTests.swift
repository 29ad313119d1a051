// Specifies the messages and exit statuses of notifyutil when something fails.

@Suite(.bounded)
struct NotifyUtilFailureTests {
  /// Arguments of `env`.
  private static let cleared = [
    "DARWIN_NOTIFY_BUS", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "XDG_RUNTIME_DIR",
  ].flatMap { ["-u", $0] }

  private static let sessionAdvice =
    "run it under dbus-run-session, set DBUS_SESSION_BUS_ADDRESS, or use --bus=ADDRESS"

  /// The messages when a command finds no bus: by the command, then about the bus.
  private static func noBus(_ command: String, _ lines: String...) -> Outcome {
    let text = ["\(command): no message bus found"] + lines
    return Outcome(status: 3, errors: text.map { "notifyutil: \($0)\n" }.joined())
  }

  private static let needsMounts = ConditionTrait.enabled(
    if: Program.canMount, "no user namespaces")

  @Test(
    needsMounts,
    arguments: [
      ["-w", "a"], ["-1", "a"], ["-g", "a"], ["--monitor"], ["-s", "a"],
    ])
  func saysWhichBusWasTriedAndWhy(words: [String]) async throws {
    let bus = try PrivateBus(.usual)
    bus.kill()
    let command = words.joined(separator: " ")
    let line = words + (words[0] == "-s" ? ["1"] : [])
    let outcome = try await runNotifyUtilWithoutTable(line, on: bus)
    let lines = outcome.errors.split(separator: "\n")
    try #require(lines.count == 3, "\(outcome)")
    #expect(lines[0] == "notifyutil: \(command): no message bus found")
    #expect(lines[1].hasPrefix("notifyutil: tried \(bus.address) (DARWIN_NOTIFY_BUS): "))
    #expect(lines[1].hasSuffix(": Connection refused") || lines[1].contains(": No such file"))
    #expect(lines[2] == "notifyutil: start a bus there, or use --bus=session")
    #expect(outcome.status == 3 && outcome.output.isEmpty)
  }

  /// The choice of a bus, and the messages about it.
  private static let choices: [(String, [String])] = [
    ("--bus=none", ["--bus is 'none'", "use --bus=session"]),
    (
      "--bus=unix:path=/nonexistent/b%75s;autolaunch:",
      [
        "tried unix:path=/nonexistent/b%75s (--bus): No such file or directory",
        "tried autolaunch: (--bus): this address would start a program, which is not supported",
        "start a bus there, or use --bus=session",
      ]
    ),
    (
      "--bus=unix:path=/dev/null",
      [
        "tried unix:path=/dev/null (--bus): Connection refused",
        "start a bus there, or use --bus=session",
      ]
    ),
    (
      "--bus=session",
      ["neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set", sessionAdvice]
    ),
    (
      "XDG_RUNTIME_DIR=/nonexistent",
      [
        "tried unix:path=/nonexistent/bus (XDG_RUNTIME_DIR): No such file or directory",
        sessionAdvice,
      ]
    ),
    (
      "DBUS_SESSION_BUS_ADDRESS=unix:abstract=darwinnotify-nobody",
      [
        "tried unix:abstract=darwinnotify-nobody (DBUS_SESSION_BUS_ADDRESS): Connection refused",
        sessionAdvice,
      ]
    ),
    ("DARWIN_NOTIFY_BUS=none", ["DARWIN_NOTIFY_BUS is 'none'", "use --bus=session"]),
  ]

  @Test(needsMounts, arguments: choices)
  func saysHowTheBusWasChosen(choice: String, lines: [String]) async throws {
    let isOption = choice.hasPrefix("--")
    let outcome = try await runNotifyUtilWithoutTable(
      (isOption ? [choice] : []) + ["-g", "a", "-g", "b", "-g", "self.c"], on: nil,
      environment: Self.cleared + (isOption ? [] : [choice]))
    let complaints =
      ["-g a: no message bus found"] + lines + ["-g b: no message bus found"]
    let errors = complaints.map { "notifyutil: \($0)\n" }.joined()
    #expect(outcome == Outcome(status: 3, output: "self.c 0\n", errors: errors))
  }

  @Test(arguments: ["--bus=nonsense", "DARWIN_NOTIFY_BUS=sesion", "--bus=unix:nowhere"])
  func refusesWhatNamesNoBus(choice: String) async throws {
    let isOption = choice.hasPrefix("--")
    let parts = choice.split(separator: "=", maxSplits: 1).map(String.init)
    let outcome = try await runNotifyUtil(
      (isOption ? [choice] : []) + ["-p", "a"], on: nil,
      environment: isOption ? [:] : [parts[0]: parts[1]])
    let message = "\(parts[0]): \(parts[1]) is neither session, system, none nor a D-Bus address"
    #expect(outcome.errors.hasPrefix("notifyutil: \(message)\n"))
    #expect(outcome.status == 1 && outcome.output.isEmpty)
  }

  @Test(needsMounts) func triesTheBusInTheDirectoryOfTheUser() async throws {
    let script = #"mkdir -p /run/user/$(id -u) && exec "$@""#
    let outcome = try await runNotifyUtilWithoutTable(
      ["-g", "a"], on: nil, environment: Self.cleared + ["sh", "-c", script, "sh"])
    let line = "tried unix:path=/run/user/0/bus (XDG_RUNTIME_DIR is not set): "
    #expect(outcome == Self.noBus("-g a", line + "No such file or directory", Self.sessionAdvice))
  }

  @Test(needsMounts) func noticesASocketWithoutABusBehindIt() async throws {
    let listener = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    defer { close(listener) }
    // The kernel chooses an abstract name.
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let name = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        _ = bind(listener, $0.baseAddress, socklen_t(MemoryLayout<sa_family_t>.size))
        _ = listen(listener, 9)
        getsockname(listener, $0.baseAddress, &size)
      }
      return String(decoding: bytes[3..<Int(size)], as: UTF8.self)
    }
    let bus = "unix:abstract=\(name)"
    let outcome = try await runNotifyUtilWithoutTable(["--bus", bus, "-g", "a"], on: nil)
    let reason = "the socket exists, but no message bus behind it accepts this user"
    let advice = "start a bus there, or use --bus=session"
    #expect(outcome == Self.noBus("-g a", "tried \(bus) (--bus): \(reason)", advice))
  }

  @Test(needsMounts) func aPostThatNobodyCanHearSucceeds() async throws {
    let outcome = try await runNotifyUtilWithoutTable(["--bus=none", "-p", "a"], on: nil)
    #expect(outcome == Outcome(status: 0, output: "", errors: ""))
  }

  @Test(needsMounts) func saysWhyThereIsNoTable() async throws {
    let outcome = try await runNotifyUtilWithoutTable(
      ["--bus=none", "--list"], on: nil, environment: Self.cleared, mounting: "ro")
    let errors = """
      notifyutil: --list: the table of names cannot be read
      notifyutil: the table needs a writable private directory: next to the socket of the \
      bus, in XDG_RUNTIME_DIR, in /run/user/0 or in /dev/shm

      """
    #expect(outcome == Outcome(status: 2, errors: errors))
  }

  @Test(arguments: [
    ("-p", "com.apple.system.a", "only root may post the name or set its state"),
    ("-s", "com.apple.system.a", "only root may post the name or set its state"),
    ("-p", "user.uid.1", "the name belongs to another user"),
    ("-p", "user.uid.\(user)0", "the name belongs to another user"),
    ("-s", "user.uid.\(user / 10).a", "the name belongs to another user"),
  ])
  func saysThatAPostIsRefused(option: String, name: String, reason: String) async throws {
    let line = [option, name] + (option == "-s" ? ["1"] : []) + ["-g", "self.a"]
    let outcome = try await runAsOrdinaryUser(line)
    let errors = "notifyutil: \(option) \(name): \(reason)\n"
    #expect(outcome == Outcome(status: 2, output: "self.a 0\n", errors: errors))
  }

  @Test(arguments: [
    "user.uid.\(user)", "user.uid.\(user).a", "user.uidx", "com.apple.systemx", "a",
  ])
  func letsAUserPostWhatIsNotReserved(name: String) async throws {
    let outcome = try await runAsOrdinaryUser(["--bus=none", "-p", name])
    #expect(outcome == Outcome())
  }

  /// The user of `runAsOrdinaryUser`.
  private static let user = geteuid() == 0 ? 65534 : geteuid()

  /// Runs the command as this user, or for root as a user who owns nothing. The capability lets
  /// that user execute files in a directory that only root may enter.
  private func runAsOrdinaryUser(_ line: [String]) async throws -> Outcome {
    let tool = Program.path(of: "notifyutil")
    guard geteuid() == 0 else { return try await runNotifyUtil(line, on: nil) }
    let capability = ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
    let words = ["--reuid=65534", "--clear-groups"] + capability + [tool] + line
    return try await Program.run("/usr/bin/setpriv", words, on: nil)
  }
}
