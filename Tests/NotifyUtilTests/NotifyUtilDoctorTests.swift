// Specifies what the doctor says in the situations in which posts do not arrive.
import TestSupport

@Suite(.bounded)
struct NotifyUtilDoctorTests {
  /// No other test has this name, and no other name is like it.
  private let name = "com.example.Doctor.\(UUID())"

  private static let needsMounts = ConditionTrait.enabled(
    if: Program.canMount, "no user namespaces")

  private static let needsProxy = ConditionTrait.enabled(
    if: access("/usr/bin/xdg-dbus-proxy", X_OK) == 0, "xdg-dbus-proxy is not installed")

  private static let needsRoot = ConditionTrait.enabled(
    if: geteuid() == 0, "only root can start processes of another user")

  /// Both kinds, where it matters what the bus does.
  private static let buses = [BusKind.daemon, .broker].filter(\.isInstalled)

  // MARK: The twelve situations

  @Test func theObserverIsOnAnotherBus() async throws {
    let (bus, other) = (try PrivateBus(), try PrivateBus())
    let listener = try await listen(on: other)
    let report = try await examine([name], on: bus)
    let first = try #require(report.findings.first)
    #expect(first.check == "other-bus" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("notifyutil(\(listener.processIdentifier)) uses "))
    #expect(first.sentence.contains("\(other.directory)/"))
    #expect(first.sentence.contains("\(bus.address) (DARWIN_NOTIFY_BUS)"))
    #expect(first.remedy.contains("DBUS_SESSION_BUS_ADDRESS") && report.status == 1)
  }

  @Test func theObserverHasAnotherRuntimeDirectory() async throws {
    let (bus, directory) = (try PrivateBus(), try ownDirectory())
    let listener = try await listen(on: nil, of(bus.directory))
    let report = try await examine([name], on: nil, of(directory))
    let first = try #require(report.findings.first)
    #expect(first.check == "other-directory" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("notifyutil(\(listener.processIdentifier)) has its table in "))
    #expect(first.sentence.contains(bus.directory) && first.sentence.contains(directory))
    #expect(first.remedy.contains("XDG_RUNTIME_DIR") && report.status == 1)
  }

  @Test(needsRoot) func theObserverBelongsToAnotherUser() async throws {
    let directory = try ownDirectory()
    try #require(chown(directory, 65534, 65534) == 0)
    let words = ["--ready=1", "-w", name]
    let listener = try Program(
      "/usr/bin/setpriv", asNobody + [Program.path(of: "notifyutil")] + words, on: nil,
      environment: without(bus: directory))
    await listener.waitForLine("ready")
    let report = try await examine([name], on: try PrivateBus())
    let first = try #require(report.findings.first)
    #expect(first.check == "other-user" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("(\(listener.processIdentifier)) belongs to the user 65534"))
    #expect(first.remedy.contains("--bus=system") && report.status == 1)
  }

  @Test(arguments: [
    ("Ref\u{E9}", "ref\u{E9}", "in upper and lower case"),
    ("Reload", "Relaod", "in a letter"), ("Reload", "Reloads", "in a letter"),
    ("Reload", "Reloa", "in a letter"), ("Reload", "Rejoad", "in a letter"),
    ("Ref\u{E9}", "Refe\u{301}", "in its Unicode form"),
  ])
  func theNameIsSpelledDifferently(registered: String, posted: String, words: String) async throws {
    let bus = try PrivateBus()
    let listener = try await listen(on: bus, name: "\(name).\(registered)")
    let report = try await examine(["\(name).\(posted)"], on: bus)
    let first = try #require(report.findings.first)
    #expect(first.check == "similar-name" && first.certainty == "seen", "\(report)")
    let process = "notifyutil(\(listener.processIdentifier))"
    #expect(
      first.sentence == "nobody has registered \(name).\(posted), but \(process) has "
        + "\(name).\(registered), which differs \(words)")
    #expect(first.remedy.contains("byte by byte") && report.status == 1)
  }

  @Test func theAddressOfTheBusIsStale() async throws {
    let (bus, gone) = (try PrivateBus(), try PrivateBus())
    let listener = try await listen(on: bus)
    gone.kill()
    let report = try await examine(
      [name], on: nil, ["DARWIN_NOTIFY_BUS": "", "DBUS_SESSION_BUS_ADDRESS": gone.address])
    let first = try #require(report.findings.first)
    #expect(first.check == "unreachable-bus" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("\(gone.address) (DBUS_SESSION_BUS_ADDRESS): "))
    #expect(first.remedy.contains("DBUS_SESSION_BUS_ADDRESS=unix:path=") && report.status == 1)
    withExtendedLifetime(listener) {}
  }

  @Test func theTableIsFull() async throws {
    let environment = without(bus: try ownDirectory())
    let names = namesInTheSet(of: name, count: 32).flatMap { ["-w", $0] }
    let listener = try Program(
      "notifyutil", ["--ready=1"] + names, on: nil, environment: environment)
    await listener.waitForLine("ready")
    let refused = try await runNotifyUtil(["-w", name], on: nil, environment: environment)
    #expect(refused.status == 3)
    let report = try await examine([name], on: nil, environment)
    let first = try #require(report.findings.first)
    #expect(first.check == "full-table" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("no slot left for \(name)"))
    #expect(first.remedy.contains("register fewer names") && report.status == 1)
  }

  @Test(needsMounts) func theTableCannotBeWritten() async throws {
    let variables = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"].flatMap { ["-u", $0] }
    let outcome = try await runNotifyUtilWithoutTable(
      ["--bus=none", "--json", "--doctor", name], on: nil, environment: variables, mounting: "ro")
    let report = try Report(outcome)
    let first = try #require(report.findings.first)
    #expect(first.check == "unusable-table" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("this shell cannot use the table of its bus"))
    #expect(first.remedy.contains("/run/user/") && report.status == 1)
  }

  @Test func theObserverIsStopped() async throws {
    let bus = try PrivateBus()
    let listener = try await listen(on: bus)
    listener.send(SIGSTOP)
    await listener.waitUntilStopped()
    #expect(try await runNotifyUtil(["-p", name], on: bus) == Outcome())
    let report = try await examine([name], on: bus)
    let first = try #require(report.findings.first)
    #expect(first.check == "stopped-process" && first.certainty == "seen", "\(report)")
    let process = "notifyutil(\(listener.processIdentifier))"
    #expect(
      first.sentence == "\(process) is stopped by a signal or a debugger, and has unread posts")
    #expect(first.remedy == "continue it: kill -CONT \(listener.processIdentifier)")
    #expect(report.status == 1)
    listener.send(SIGCONT)
    await listener.waitForLine(name)
    await eventually { (try? await examine([name], on: bus))?.status == 0 }
  }

  @Test(arguments: buses) func theBusHangs(kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let listener = try await listen(on: bus)
    bus.pause()
    defer { bus.resume() }
    let report = try await examine([name], on: bus)
    let first = try #require(report.findings.first)
    #expect(first.check == "silent-bus" && first.certainty == "seen", "\(report)")
    #expect(first.sentence.contains("\(bus.address) accepts connections, but does not answer"))
    #expect(first.remedy.contains("kill -CONT") && report.status == 1)
    withExtendedLifetime(listener) {}
  }

  @Test(needsProxy, arguments: buses) func aProxyFiltersTheBus(kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let socket = try ownDirectory() + "/proxy"
    let proxy = try Program(
      "/usr/bin/xdg-dbus-proxy", [bus.address, socket, "--filter"], on: nil)
    await eventually { access(socket, F_OK) == 0 }
    let inside = ["DARWIN_NOTIFY_BUS": "unix:path=\(socket)"]
    let listener = try await listen(on: nil, inside)
    let label = "xdg-dbus-proxy(\(proxy.processIdentifier))"
    let outer = try await examine([name], on: bus)
    let first = try #require(outer.findings.first)
    #expect(first.check == "filtered-process", "\(outer)")
    #expect(first.sentence.contains("notifyutil(\(listener.processIdentifier)) reaches"))
    #expect(first.sentence.contains(label) && outer.status == 1)
    let inner = try await examine([name], on: nil, inside)
    let own = try #require(inner.findings.first)
    #expect(own.check == "filtered-shell" && own.certainty == "seen", "\(inner)")
    #expect(own.sentence.contains("through \(label)") && inner.status == 1)
  }

  // MARK: Other findings, and none

  @Test(arguments: buses) func findsNothingWhereAllIsWell(kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let listener = try await listen(on: bus)
    let process = "\(listener.processIdentifier)"
    for arguments in [[name], [name, process], [process]] {
      let report = try await examine(arguments + ["--probe"], on: bus)
      #expect(report.status == 0 && report.known.isEmpty, "\(report)")
      let probe = try #require(report.object["probe"] as? [String: Any])
      #expect(probe["handler_us"] is Int && probe["bus_us"] is Int)
    }
    let outcome = try await runNotifyUtil(["--doctor", name], on: bus)
    #expect(outcome.output.hasPrefix("nothing found that keeps a post from arriving\n"))
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
  }

  /// The library goes on without a bus that does not accept it within 0.9 seconds.
  @Test func waitsForABusThatIsSlowToAcceptIt() async throws {
    let (bus, socket) = (try PrivateBus(.usual), try ownDirectory() + "/bus")
    // The first connection only greets.
    let script = """
      import socket, sys, threading, time
      listener = socket.socket(socket.AF_UNIX)
      listener.bind(sys.argv[2])
      listener.listen()
      def copy(source, target):
          while data := source.recv(65536):
              target.sendall(data)
          target.shutdown(socket.SHUT_WR)
      for number in range(100):
          client, bus = listener.accept()[0], socket.socket(socket.AF_UNIX)
          if number == 1:
              time.sleep(1.2)
          bus.connect(sys.argv[1])
          for ends in (client, bus), (bus, client):
              threading.Thread(target=copy, args=ends, daemon=True).start()
      """
    let path = try #require(bus.address.firstMatch(of: /path=([^,;]+)/)?.1)
    let proxy = try Program("/usr/bin/python3", ["-c", script, String(path), socket], on: nil)
    await eventually { access(socket, F_OK) == 0 }
    let report = try await examine([name], on: nil, ["DARWIN_NOTIFY_BUS": "unix:path=\(socket)"])
    #expect(report.known.map(\.check) == ["missing-observer"], "\(report)")
    withExtendedLifetime(proxy) {}
  }

  @Test func saysThatNobodyObserves() async throws {
    let bus = try PrivateBus()
    let report = try await examine([name], on: bus)
    #expect(report.known.map(\.check) == ["missing-observer"] && report.status == 1)
    let listener = try await listen(on: bus, name: "\(name).other")
    let process = "\(listener.processIdentifier)"
    let other = try await examine([name, process], on: bus)
    #expect(other.known.map(\.check) == ["missing-observer"] && other.status == 1)
    #expect(other.known[0].sentence == "notifyutil(\(process)) has not registered \(name)")
  }

  @Test func saysThatAProcessDoesNotExist() async throws {
    let report = try await examine(["999999999"], on: try PrivateBus())
    #expect(report.known.map(\.check) == ["missing-process"] && report.status == 1)
  }

  @Test func saysThatAProcessHasEnded() async throws {
    // What replaces the shell does not ask for the status of its child, which ends afterwards.
    let child = "until [ $(cat /proc/$$/comm) = sleep ]; do :; done"
    let parent = try Program("/bin/sh", ["-c", "(\(child)) & echo $!; exec sleep 600"], on: nil)
    await eventually { parent.lines.count == 1 }
    let ended = parent.lines[0]
    await eventually {
      let status = try? String(contentsOfFile: "/proc/\(ended)/stat", encoding: .utf8)
      return status?.contains(") Z ") == true
    }
    let report = try await examine([ended], on: try PrivateBus())
    #expect(report.known.map(\.check) == ["missing-process"] && report.status == 1)
    #expect(parent.isRunning)
  }

  @Test func saysThatAnObserverOfDistributedNotificationsCannotBeSeen() async throws {
    let bus = try PrivateBus()
    let listener = try Program(
      "notifyutil", ["--ready=1", "--distributed", "-w", name], on: bus)
    await listener.waitForLine("ready")
    let process = "\(listener.processIdentifier)"
    let report = try await examine([name, process], on: bus)
    #expect(report.findings.map(\.check) == ["process-without-table"], "\(report)")
    #expect(report.findings[0].certainty == "unknown" && report.status == 2)
    #expect(report.findings[0].remedy.contains("distributed"))
    let outcome = try await runNotifyUtil(["--doctor", name, process], on: bus)
    #expect(!outcome.output.contains("nothing found"))
  }

  @Test func saysThatAPostStaysInItsProcess() async throws {
    let report = try await examine(["self.\(name)"], on: try PrivateBus())
    #expect(report.known.map(\.check) == ["local-name"] && report.status == 1, "\(report)")
  }

  @Test func saysThatNobodyPostsForTheSystem() async throws {
    let bus = try PrivateBus()
    let name = "com.apple.system.timezone"
    let listener = try await listen(on: bus, name: name)
    let report = try await examine([name], on: bus)
    let first = try #require(report.findings.first)
    #expect(first.check == "missing-agent" && first.certainty == "inferred", "\(report)")
    #expect(first.remedy.contains("systemctl --user enable --now notifyagent"))
    #expect(report.status == 1)
    withExtendedLifetime(listener) {}
  }

  @Test func saysThatAProcessDoesNotUseTheLibrary() async throws {
    let other = try Program("/bin/sleep", ["600"], on: nil)
    let report = try await examine(["\(other.processIdentifier)"], on: try PrivateBus())
    #expect(other.isRunning)
    #expect(report.known.map(\.check) == ["process-without-table"] && report.status == 1)
  }

  @Test(needsRoot) func saysWhatOnlyRootCanSee() async throws {
    let tool = [Program.path(of: "notifyutil"), "--bus=none", "--json", "--doctor", "1"]
    let directory = try ownDirectory()
    try #require(chown(directory, 65534, 65534) == 0)
    let report = try Report(
      try await Program.run(
        "/usr/bin/setpriv", asNobody + tool, on: nil, environment: without(bus: directory)))
    #expect(report.findings.map(\.check) == ["hidden-process"], "\(report)")
    #expect(report.findings[0].certainty == "unknown" && report.status == 2)
    #expect(report.findings[0].remedy == "run the doctor as root")
  }

  @Test(arguments: [
    ("user.uid.4294967294", "the name belongs to another user"),
    ("\(String(repeating: "a", count: 512))", "a name has 1 to 511 bytes without a NUL"),
  ])
  func saysThatANameIsRefused(name: String, reason: String) async throws {
    if name.hasPrefix("user"), geteuid() == 0 { return }  // Root may post it.
    let report = try await examine([name], on: try PrivateBus())
    let first = try #require(report.findings.first)
    #expect(first.check == "refused-name" && first.sentence.hasSuffix(reason), "\(report)")
    #expect(report.status == 1)
  }

  // MARK: Helpers

  private struct Report: CustomStringConvertible {
    struct Finding {
      let check: String
      let certainty: String
      let sentence: String
      let remedy: String
    }
    let findings: [Finding]
    let status: Int32
    let object: [String: Any]
    let description: String

    var known: [Finding] { findings.filter { $0.certainty != "unknown" } }

    init(_ outcome: Outcome) throws {
      description = "\(outcome)"
      status = outcome.status
      let json = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
      object = try #require(json as? [String: Any], "\(outcome)")
      let entries = try #require(object["findings"] as? [[String: String]], "\(outcome)")
      findings = entries.map {
        Finding(
          check: $0["check"] ?? "", certainty: $0["certainty"] ?? "",
          sentence: $0["sentence"] ?? "", remedy: $0["remedy"] ?? "")
      }
    }
  }

  private func examine(
    _ words: [String], on bus: PrivateBus?, _ environment: [String: String] = [:]
  ) async throws -> Report {
    try Report(
      try await runNotifyUtil(["--json", "--doctor"] + words, on: bus, environment: environment))
  }

  /// Starts an observer. Returns when it has registered the name.
  private func listen(
    on bus: PrivateBus?, _ environment: [String: String] = [:], name: String? = nil
  ) async throws -> Program {
    let words = ["--ready=1", "-w", name ?? self.name]
    let program = try Program("notifyutil", words, on: bus, environment: environment)
    await program.waitForLine("ready")
    return program
  }

  /// The environment of a session whose bus follows from its runtime directory.
  private func of(_ directory: String) -> [String: String] {
    ["DARWIN_NOTIFY_BUS": "", "DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": directory]
  }

  private func without(bus directory: String) -> [String: String] {
    ["DARWIN_NOTIFY_BUS": "none", "XDG_RUNTIME_DIR": directory]
  }

  /// The capability lets that user execute files in a directory that only root may enter.
  private let asNobody = [
    "--reuid=65534", "--clear-groups", "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
  ]

  private func ownDirectory() throws -> String {
    let directory = String(cString: try #require(test_directory())) + "/\(UUID())"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return directory
  }

  /// Names that need the same slots as another one (CShims/CDarwinNotify/table/layout.h).
  private func namesInTheSet(of name: String, count: Int) -> [String] {
    func set(_ text: String) -> UInt64 {
      let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
        ($0 ^ UInt64($1)) &* 0x100_0000_01b3
      }
      return ((hash ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15) >> 54
    }
    let wanted = set(name)
    return Array(
      (0...).lazy.map { "com.example.like.\($0)" }.filter { set($0) == wanted }.prefix(count))
  }
}
