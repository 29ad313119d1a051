// Specifies what notifyutil does for scripts.

@Suite(.bounded)
struct NotifyUtilScriptTests {
  private static let types = ["dispatch", "file", "signal", "check", "plain"]

  // MARK: --ready

  @Test(arguments: types)
  func reportsReadyOnceNoPostIsMissed(by type: String) async throws {
    let bus = try PrivateBus()
    let script = """
      exec 3>&1
      (exec 9>&1 >&3; exec "$0" --ready=9 -"$1" -1 com.example.a -q -1 com.example.b) | {
        read -r line; echo "$line"; cat; "$0" -z 0 -p com.example.b -p com.example.a
      }
      """
    let tool = Program.path(of: "notifyutil")
    let outcome = try await Program.run("/bin/sh", ["-c", script, tool, type], on: bus)
    #expect(outcome == Outcome(output: "ready\n"))
  }

  // MARK: --timeout

  @Test(arguments: [
    ["--timeout", "0.4", "-1", "self.a", "-w", "self.b"],
    ["--timeout=0.4", "-z", "100000", "-w", "self.a", "-p", "self.b"],
  ])
  func endsAtTheTimeout(line: [String]) async throws {
    let start = ContinuousClock.now
    let outcome = try await runNotifyUtil(line, on: nil)
    #expect(outcome == Outcome(status: 124, errors: "notifyutil: --timeout: timed out\n"))
    #expect(.now - start >= .milliseconds(400))
  }

  /// The thread that hears of posts waits for its turn while the program ends.
  @Test(arguments: ["-1", "-w"])
  func endsWhileOthersPost(watching: String) async throws {
    let bus = try PrivateBus()
    let names = (1...50).map { "com.example.\($0)" }
    let ending = watching == "-w" ? ["--timeout=0.5"] : []
    for _ in 1...4 {
      let line = ending + names.flatMap { [watching, $0] }
      let program = try Program("notifyutil", line, on: bus)
      while program.isRunning {
        _ = try await runNotifyUtil(["-z", "0"] + names.flatMap { ["-p", $0] }, on: bus)
      }
      let outcome = await program.end()
      let lines = outcome.output.split(separator: "\n").map(String.init)
      if watching == "-1" { #expect(lines.sorted() == names.sorted()) }
      // The posters may have been too slow for the timeout.
      #expect(outcome.status == 0 || (watching == "-w" && outcome.status == 124))
    }
  }

  // MARK: --exec

  @Test(arguments: types)
  func runsACommandForANotification(by type: String) async throws {
    let command = #"echo "<$NOTIFY_NAME $NOTIFY_STATE>"; exec 2>&-; cat"#
    let line = ["-q", "-z", "0", "-\(type)", "--exec", command, "-1", "self.a 'b\""]
    let posts = ["-s", "self.a 'b\"", "0xff", "-p", "self.a 'b\""]
    let environment = ["NOTIFY_NAME": "inherited", "NOTIFY_STATE": "inherited"]
    let outcome = try await runNotifyUtil(line + posts, on: nil, environment: environment)
    #expect(outcome == Outcome(output: "<self.a 'b\" 255>\n"))
  }

  @Test(arguments: types)
  func handsItsCommandNoDescriptorsOfItsOwn(by type: String) async throws {
    let script = """
      count='ls /proc/self/fd | wc -l'; eval "$count"
      exec "$0" -q "-$1" --exec "$count" -1 self.a -p self.a
      """
    let tool = Program.path(of: "notifyutil")
    let outcome = try await Program.run("/bin/sh", ["-c", script, tool, type], on: nil)
    let counts = outcome.output.split(separator: "\n")
    #expect(counts.count == 2 && counts.first == counts.last, "\(outcome)")
  }

  @Test func theExampleForTheShellPrintsWhatItPromises() async throws {
    let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Examples/notifyutil/first.sh").standardized.path
    let folder = URL(fileURLWithPath: Program.path(of: "notifyutil")).deletingLastPathComponent()
    let outcome = try await Program.run(
      "/bin/sh", [example], on: try PrivateBus(),
      environment: ["PATH": "\(folder.path):/usr/bin:/bin"])
    #expect(outcome == Outcome(output: "received com.example.changed\n"))
  }

  // MARK: --wait-for-bus

  @Test func waitsForABus() async throws {
    let bus = try PrivateBus(.usual)
    bus.kill()
    let line = ["--wait-for-bus", "--ready=1", "-1", "com.example.a", "-p", "com.example.a"]
    let waiting = try Program("notifyutil", line, on: bus)
    let hurried = try await runNotifyUtil(line + ["--timeout=0.5"], on: bus)
    #expect(hurried.status == 124 && hurried.output.isEmpty)
    #expect(hurried.errors.hasPrefix("notifyutil: --wait-for-bus: timed out\n"))
    #expect(hurried.errors.contains("\nnotifyutil: tried \(bus.address) "))
    #expect(waiting.isRunning && waiting.output.isEmpty)
    bus.startAgain()
    #expect(await waiting.end() == Outcome(output: "ready\ncom.example.a\n"))
  }

  // MARK: --json

  @Test(arguments: types)
  func printsAnObjectForEachNotification(by type: String) async throws {
    let name = "self.\"\u{1}\u{E9}"
    let line = ["--json", "-\(type)", "-1", name, "-s", name, "-1", "-p", name]
    let began = Date().timeIntervalSince1970
    let outcome = try await runNotifyUtil(line, on: nil)
    let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let event = try #require(object as? [String: Any])
    let time = try #require(event["time"] as? Double)
    #expect(began <= time && time <= Date().timeIntervalSince1970)
    #expect(event["name"] as? String == name)
    #expect(event["state"] as? String == "18446744073709551615")
    #expect(event["token"] is Int && event["type"] as? String == type)
    #expect(event["signal"] as? Int == (type == "signal" ? 1 : nil))
    #expect(event.count == (type == "signal" ? 6 : 5))
    #expect(outcome.output.split(separator: "\n").count == 1 && outcome.status == 0)
  }
}
