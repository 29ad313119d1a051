// Specifies how notifyutil shows the names and posts of a bus.
import TestSupport

@Suite(.bounded)
struct NotifyUtilInspectionTests {
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  private static let oddName: NotificationName = "com.example.\"\\\n\t\u{1}\u{E9}\u{1F600}"

  @Test func listsTheNamesInUse() async throws {
    let nobody = "notifyutil: --list: no process of this user has registered a name on this bus\n"
    let noTable = "notifyutil: --list: no table; \(bus.address)\n"
    #expect(try await runNotifyUtil(["--list"], on: bus) == Outcome(errors: nobody + noTable))
    let listener = try await startNotifyUtil(
      ["-w", "com.example.b", "-w", "com.example.a", "-w", #"com "x" \ y"#]
        + ["-s", "com.example.a", "9223372036854775807"],
      on: bus)
    let outcome = try await runNotifyUtil(["--list"], on: bus)
    let lines = outcome.output.split(separator: "\n")
    let process = "notifyutil(\(listener.processIdentifier))"
    try #require(lines.count == 4, "\(outcome)")
    let columns = lines.map { $0.split(separator: #/  +/#).map(String.init) }
    #expect(columns[0] == ["NAME", "GENERATION", "STATE", "PROCESSES"])
    #expect(columns[1][0] == #""com \"x\" \\ y""#)
    #expect(columns[2][0] == "com.example.a")
    #expect(columns[2][2...] == ["9223372036854775807", process])
    #expect(columns[3][0] == "com.example.b")
    #expect(columns[3][2...] == ["0", process])
    for column in columns[0] {
      let place = try #require(lines[0].range(of: column)?.lowerBound)
      let offset = lines[0].distance(from: lines[0].startIndex, to: place)
      for line in lines.dropFirst() where offset > 0 {
        #expect(Array(line)[offset - 1] == " " && Array(line)[offset] != " ", "\(line)")
      }
    }
    let use = "notifyutil: --list: 3 of 32768 slots and 1 of 1024 processes in use; \(bus.address)"
    #expect(outcome.status == 0)
    #expect(outcome.errors.hasPrefix("\(use); \(bus.directory)/"), "\(outcome.errors)")
  }

  @Test func listsTheNamesWithAPrefix() async throws {
    let listener = try await startNotifyUtil(["-w", "com.example.a", "-w", "org.example"], on: bus)
    let outcome = try await runNotifyUtil(["--list", "org."], on: bus)
    let names = outcome.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
    #expect(names == ["NAME", "org.example"], "\(outcome)")
    let none = try await runNotifyUtil(["--list=net."], on: bus)
    #expect(none.errors.contains("registered a name that begins with net. on this bus\n"))
    #expect(none.status == 0 && none.output.isEmpty)
    withExtendedLifetime(listener) {}
  }

  @Test func saysHowManyProcessesAPostReaches() async throws {
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    let other = try await startNotifyUtil(["-w", "com.example.a", "-w", "com.example.b"], on: bus)
    let outcome = try await runNotifyUtil(
      ["-v", "-z", "0", "-p", "com.example.a", "-p", "com.example.b", "-p", "com.example.c"],
      on: bus)
    let lines = [
      "-p com.example.a: 2 processes have registered the name",
      "-p com.example.b: 1 process has registered the name",
      "-p com.example.c: 0 processes have registered the name",
    ]
    #expect(outcome == Outcome(errors: lines.map { "notifyutil: \($0)\n" }.joined()))
    withExtendedLifetime((listener, other)) {}
  }

  @Test func saysWhenAStateIsNotKept() async throws {
    let set = ["-s", "com.example.a", "5"]
    let alone = try await runNotifyUtil(set + ["-g", "com.example.a"], on: bus)
    #expect(alone.output == "com.example.a 0\n")
    #expect(alone.status == 0 && alone.errors.contains("the state is not kept"))
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    #expect(try await runNotifyUtil(set, on: bus) == Outcome())
    let get = try await runNotifyUtil(["-g", "com.example.a"], on: bus)
    #expect(get.output == "com.example.a 5\n")
    withExtendedLifetime(listener) {}
  }

  @Test func listsAsOneArray() async throws {
    #expect(try await runNotifyUtil(["--list", "--json"], on: bus) == Outcome(output: "[]\n"))
    let name = Self.oddName.rawValue
    let listener = try await startNotifyUtil(["-w", name, "-s", name, "-1"], on: bus)
    let outcome = try await runNotifyUtil(["--json", "--list"], on: bus)
    let array = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let entry = try #require((array as? [[String: Any]])?.first)
    #expect(Set(entry.keys) == ["name", "generation", "state", "pids", "programs"])
    #expect(entry["programs"] as? [String] == ["notifyutil"])
    #expect(entry["name"] as? String == name)
    #expect(entry["state"] as? String == "18446744073709551615")
    #expect(entry["generation"] as? UInt64 != nil)
    #expect(entry["pids"] as? [Int32] == [listener.processIdentifier])
    #expect(outcome.output.split(separator: "\n").count == 1)
  }

  @Test func monitorsWhatIsPosted() async throws {
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    let monitor = try await startNotifyUtil(["--monitor", "com.example."], on: bus)
    // It stays: a monitor cannot ask for the name of a process that has ended.
    let poster = try Program(
      "notifyutil", ["-1", "org.example.y", "-p", "org.example.x", "-p", "com.example.a"], on: bus)
    let pid = poster.processIdentifier
    await monitor.waitForOutput("darwin com.example.a from pid \(pid) notifyutil: generation ")
    #expect(try await runNotifyUtil(["-p", "org.example.y"], on: bus) == Outcome())
    #expect(await poster.end() == Outcome(output: "org.example.y\n"))
    let line = try #require(monitor.lines.first { $0.contains("com.example.a") })
    let time = #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} darwin /#
    #expect(line.contains(time))
    #expect(line.contains(#/: generation [0-9]+ of region 0x[0-9a-f]{16}$/#))
    #expect(!monitor.output.contains("org.example.x"))
    #expect(monitor.isRunning && listener.isRunning)
  }

  @Test func monitorsAsOneObjectALine() async throws {
    let monitor = try await startNotifyUtil(["--json", "--monitor"], on: bus)
    try bus.makePeer().post(Self.oddName)
    await eventually { monitor.lines.count == 2 }
    // Its readiness is heard through the table, perhaps before its signal.
    let posts = try monitor.lines.map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
    let found = posts.first { $0?["name"] as? String == Self.oddName.rawValue }
    let post = try #require(found ?? nil)
    let time = try #require(post["time"] as? Double)
    #expect(abs(time - Date().timeIntervalSince1970) < Double(60 * slowness))
    #expect(post["center"] as? String == "darwin")
    #expect(post["name"] as? String == Self.oddName.rawValue)
    #expect((post["sender"] as? String)?.hasPrefix(":1.") == true)
    #expect(post["generation"] is NSNull && post["region"] is NSNull)
    #expect(
      Set(post.keys) == [
        "time", "center", "name", "sender", "pid", "program", "generation", "region", "posts",
        "object", "user_info", "number",
      ])
    #expect(post["posts"] as? Int == 1)
  }

  @Test func distinguishesNamesThatLookTheSameAndForgesNoLines() async throws {
    let texts: KeyValuePairs = [
      #"a\u{1}"#: #"a\\u{1}"#, "a\u{1}": #"a\u{1}"#, "a\u{2028}b": #"a\u{2028}b"#,
      "a\u{2029}b": #"a\u{2029}b"#, "a\u{202E}b": #"a\u{202e}b"#, "a\u{2066}b": #"a\u{2066}b"#,
      "a\u{61C}b": #"a\u{61c}b"#, "a\u{200B}b": #"a\u{200b}b"#,
      "a\u{1B}[2J\nforged": #"a\u{1b}[2J\u{a}forged"#, "a\u{E9}\u{1F600}": "a\u{E9}\u{1F600}",
    ]
    let listener = try await startNotifyUtil(texts.flatMap { ["-w", $0.key] }, on: bus)
    let outcome = try await runNotifyUtil(["--list"], on: bus)
    let listed = outcome.output.split(separator: "\n").dropFirst().map { $0.prefix { $0 != " " } }
    #expect(listed.map(String.init).sorted() == texts.map(\.value).sorted())
    let monitor = try await startNotifyUtil(["--monitor"], on: bus)
    try bus.makePeer().post("com.example.\u{1B}[2J\nforged")
    await monitor.waitForOutput(#"com.example.\u{1b}[2J\u{a}forged from "#)
    #expect(monitor.lines.contains { $0.contains("forged from ") && $0.hasSuffix(": not counted") })
    #expect(monitor.lines.allSatisfy { $0.contains(" darwin com.example.") })
    #expect(listener.isRunning)
  }

  @Test func continuesWithTheTableWhenTheBusIsLost() async throws {
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    let monitor = try await startNotifyUtil(["--monitor", "com.example.a"], on: bus)
    bus.kill()
    #expect(try await runNotifyUtil(["-p", "com.example.a"], on: bus) == Outcome())
    // What is posted before it has noticed is not printed.
    await eventually {
      _ = try? await runNotifyUtil(["-z", "0", "-p", "com.example.a"], on: bus)
      return monitor.output.contains(" darwin com.example.a in the table")
    }
    bus.startAgain()
    await eventually {
      _ = try? await runNotifyUtil(["-z", "0", "-p", "com.example.a"], on: bus)
      return monitor.output.contains(" darwin com.example.a from pid ")
    }
    #expect(monitor.isRunning && listener.isRunning)
  }

  @Test func worksWithoutABus() async throws {
    let environment = ["DARWIN_NOTIFY_BUS": "none", "XDG_RUNTIME_DIR": try ownDirectory()]
    func run(_ words: [String]) async throws -> Outcome {
      try await runNotifyUtil(words, on: nil, environment: environment)
    }
    let listener = try Program(
      "notifyutil", ["--ready=1", "-w", "com.example.a"], on: nil, environment: environment)
    await listener.waitForLine("ready")
    let monitor = try Program(
      "notifyutil", ["--ready=1", "--json", "--monitor"], on: nil, environment: environment)
    await monitor.waitForLine("ready")
    #expect(try await run(["-p", "com.example.a", "-p", "com.example.unheld"]) == Outcome())
    await listener.waitForLine("com.example.a")
    let list = try await run(["--list"])
    #expect(list.output.contains("notifyutil(\(listener.processIdentifier))"))
    #expect(list.output.split(separator: "\n").count == 2 && list.status == 0)
    await eventually { monitor.lines.count == 2 }
    let line = try #require(monitor.lines.last)
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let post = try #require(object)
    #expect(post["name"] as? String == "com.example.a" && post["posts"] as? Int == 1)
    #expect(post["sender"] is NSNull && post["pid"] is NSNull && post["program"] is NSNull)
    #expect(monitor.isRunning && listener.isRunning)
  }

  /// A private directory for a table that no other test uses.
  private func ownDirectory() throws -> String {
    let directory = String(cString: try #require(test_directory())) + "/\(UUID())"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return directory
  }
}
