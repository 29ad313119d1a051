// Specifies the checks of the doctor, one by one, on scenes that are hard to prepare.

@testable import notifyutil

@Suite(.bounded)
struct NotifyUtilChecksTests {
  private static let directory = "/run/user/1000/darwin-notify"
  private static let file = FileIdentity(device: 1, number: 1)

  /// A shell and an observer that share a bus and a table.
  private static let allIsWell: Scene = {
    var scene = Scene()
    scene.user = 1000
    scene.mountNamespace = "mnt:[1]"
    scene.bus = BusLook()
    scene.bus.answer = .answers
    scene.bus.address = "unix:path=/run/user/1000/bus"
    scene.bus.socket = "/run/user/1000/bus"
    scene.bus.isConnected = true
    scene.table.path = "\(directory)/table5-0123456789abcdef"
    scene.table.file = file
    scene.table.isUsable = true
    scene.processes = [observer]
    return scene
  }()

  private static let observer: ProcessLook = {
    var observer = ProcessLook(identifier: 4711)
    observer.program = "panel"
    observer.user = 1000
    observer.mountNamespace = "mnt:[1]"
    observer.bus.socket = "/run/user/1000/bus"
    observer.tables = [
      ProcessLook.Table(path: "\(directory)/table5-0123456789abcdef", file: file, content: nil)
    ]
    return observer
  }()

  /// The observer, with a table that the shell does not share, nor its bus.
  private static func apart(table: String) -> ProcessLook {
    var process = observer
    process.bus.socket = "/tmp/other/bus"
    let other = FileIdentity(device: 1, number: 2)
    process.tables = [ProcessLook.Table(path: table, file: other, content: nil)]
    return process
  }

  /// What is found once the scene is changed.
  private func findings(_ change: (inout Scene) -> Void) -> [String] {
    details(change).map { "\($0.check): \($0.certainty)" }
  }

  private func details(_ change: (inout Scene) -> Void) -> [Finding] {
    var scene = Self.allIsWell
    change(&scene)
    return Checks.findings(in: scene)
  }

  @Test func nothingIsFoundWhereAllIsWell() {
    #expect(findings { _ in } == [])
  }

  @Test func aProcessThatSharesOnlyTheBusIsNotApart() {
    let found = findings {
      $0.processes[0] = Self.apart(table: "/tmp/other/darwin-notify/table5-0123456789abcdef")
      $0.processes[0].bus.socket = "/run/user/1000/bus"
    }
    #expect(found == [])
  }

  @Test func theBusRefusesTheUserOrItsRules() {
    let refused = findings {
      $0.bus.answer = .refusesUser
      $0.bus.isConnected = false
    }
    #expect(refused == ["refusing-bus: seen"])
    #expect(findings { $0.bus.isConnected = false } == ["refusing-bus: seen"])
    #expect(findings { $0.bus.refusesRules = true } == ["refused-rules: seen"])
  }

  @Test func theBusBelongsToAnotherUser() {
    func sentence(isForAllUsers: Bool) -> String? {
      let found = details {
        $0.bus.isConnected = false
        $0.bus.owner = 0
        $0.bus.isForAllUsers = isForAllUsers
      }
      return found.first?.sentence
    }
    let words = "it is the bus of the user 0, and this shell belongs to 1000"
    #expect(sentence(isForAllUsers: false)?.hasSuffix(words) == true)
    #expect(sentence(isForAllUsers: true)?.hasSuffix(words) == false)
  }

  @Test func theReasonWhyTheTableIsUnusableIsFoundAmongOthers() {
    func finding(_ complaint: String) -> Finding? {
      let found = details {
        $0.table.isUsable = false
        $0.table.complaints = [complaint, "found the bus unix:path=/run/user/1000/bus"]
      }
      return found.first
    }
    let futexes = finding("shared futexes are refused; using D-Bus only")
    #expect(futexes?.sentence.hasSuffix("shared futexes are refused; using D-Bus only") == true)
    #expect(futexes?.remedy.hasPrefix("allow the system call futex") == true)
    let table = finding("cannot open the shared table for session; using D-Bus only")
    #expect(table?.sentence.contains("cannot open the shared table for session") == true)
    #expect(table?.remedy.contains("/run/user/1000") == true)
  }

  @Test(arguments: [
    ("notifyagent", "com.apple.system.timezone", false),
    ("panel", "com.apple.system.timezone", true), ("panel", "com.apple.example", false),
  ])
  func nobodyPostsForTheSystem(program: String, name: String, isFound: Bool) {
    let found = details {
      $0.processes[0].program = program
      $0.name = NotificationName(name)
    }
    #expect(found.contains { $0.check == "missing-agent" } == isFound)
  }

  @Test func noBusIsFoundOrWanted() {
    func without(_ origin: String) -> [String] {
      findings {
        $0.bus = BusLook()
        $0.bus.origin = origin
      }
    }
    #expect(without("DARWIN_NOTIFY_BUS is 'none'") == [])
    let unset = "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set"
    #expect(without(unset) == ["unreachable-bus: seen"])
  }

  @Test func theObserverHasOtherMounts() {
    let process = {
      var process = Self.apart(table: "/run/user/1000/darwin-notify/table5-0123456789abcdef")
      process.mountNamespace = "mnt:[2]"
      return process
    }()
    let found = findings {
      $0.processes[0] = process
      $0.process = 4711
    }
    #expect(found == ["other-namespace: seen"])
    #expect(findings { $0.processes[0] = process } == [], "nobody asked about it")
  }

  @Test func theObserverHasTablesOfAnotherVersion() {
    let found = findings {
      $0.processes[0] = Self.apart(table: "\(Self.directory)/table3-0123456789abcdef")
    }
    #expect(found == ["other-version: seen"])
  }

  @Test func theBusOfTheObserverIsInferredFromItsEnvironment() {
    let found = findings {
      $0.processes[0] = Self.apart(table: "/tmp/other/darwin-notify/table5-fedcba9876543210")
      $0.processes[0].bus.socket = nil
      $0.processes[0].bus.address = "unix:path=/tmp/other/bus"
      $0.processes[0].bus.isNamed = true
    }
    #expect(found == ["other-bus: inferred"])
  }

  @Test func theObserverIsLate() {
    #expect(findings { $0.table.late = [4711] } == ["late-process: inferred"])
  }

  @Test func processesOfOtherUsersAreUnknown() {
    #expect(findings { $0.hiddenProcesses = 3 } == ["hidden-processes: unknown"])
  }

  @Test func whatIsUnknownComesLast() {
    let found = findings {
      $0.hiddenProcesses = 1
      $0.processes[0].isStopped = true
      $0.bus.refusesRules = true
    }
    #expect(
      found == ["stopped-process: seen", "refused-rules: seen", "hidden-processes: unknown"])
  }

  @Test func aLostProbeIsFound() {
    let lost = Probe(table: nil, bus: nil, isOnBus: true)
    #expect(lost.findings.map(\.check) == ["lost-probe", "lost-probe"])
    #expect(Probe(table: .microseconds(40), bus: nil, isOnBus: false).findings.isEmpty)
  }

  @Test(arguments: [
    ("abcd", "ABCD", NameLikeness.inCase), ("abcd", "abc", .inALetter),
    ("abcd", "abcde", .inALetter), ("abcd", "abXd", .inALetter), ("abcd", "abdc", .inALetter),
    ("caf\u{E9}", "cafe\u{301}", .inUnicodeForm), ("abcd", "abXX", nil), ("abc", "abd", nil),
    ("abcd", "acbX", nil),
  ])
  func namesAreAlike(name: String, other: String, likeness: NameLikeness?) {
    #expect(NameLikeness(name, other) == likeness)
  }
}
