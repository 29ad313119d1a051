// Specifies what notifyutil does for scripts.

@Suite(.bounded)
struct NotifyUtilScriptTests {
  private static let types = ["dispatch", "file", "signal", "check", "plain"]

  // MARK: --ready

  @Test(arguments: BusKind.installed, types)
  func reportsReadyOnceNoPostIsMissed(on kind: BusKind, by type: String) async throws {
    let bus = try PrivateBus(kind)
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

  @Test func reportsReadyBeforeTheCommandsAfterTheRegistrations() async throws {
    let line = ["--ready=1", "-g", "self.a", "-1", "self.b", "-g", "self.c", "-p", "self.b"]
    let outcome = try await runNotifyUtil(line, on: nil)
    #expect(outcome == Outcome(output: "self.a 0\nready\nself.c 0\nself.b\n"))
    let quiet = try await runNotifyUtil(["--ready", "-q", "-1", "self.b", "-p", "self.b"], on: nil)
    #expect(quiet == Outcome(errors: "ready\n"))
  }

  @Test func monitorReportsThatItIsReady() async throws {
    let bus = try PrivateBus(.usual)
    let monitor = try Program("notifyutil", ["--monitor", "--ready=1"], on: bus)
    await monitor.waitForLine("ready")
    #expect(try await runNotifyUtil(["-p", "com.example.a"], on: bus) == Outcome())
    await monitor.waitForOutput(" darwin com.example.a from ")
  }

  @Test func isNeverReadyIfARegistrationFails() async throws {
    let line = ["--ready=1", "-1", "", "-1", "self.a", "-p", "self.a"]
    let outcome = try await runNotifyUtil(line, on: nil)
    #expect(outcome.output == "self.a\n" && outcome.status == 2)
  }

  // MARK: --timeout

  @Test func endsAtTheTimeout() async throws {
    let timeIsUp = Outcome(status: 124, errors: "notifyutil: --timeout: timed out\n")
    let clock = ContinuousClock()
    let duration = try await clock.measure {
      let line = ["--timeout", "0.4", "-1", "self.a", "-w", "self.b"]
      let outcome = try await runNotifyUtil(line, on: nil)
      #expect(outcome == timeIsUp)
    }
    #expect(duration >= .milliseconds(400))
    let paused = ["--timeout=0.2", "-z", "100000", "-w", "self.a", "-p", "self.b"]
    #expect(try await runNotifyUtil(paused, on: nil) == timeIsUp)
  }

  @Test func succeedsWithinTheTimeout() async throws {
    let counted = ["--timeout", "100", "-1", "self.a", "-p", "self.a"]
    #expect(try await runNotifyUtil(counted, on: nil) == Outcome(output: "self.a\n"))
    let endless = ["--timeout", "\(5 * slowness)", "-w", "self.a", "-p", "self.a"]
    #expect(try await runNotifyUtil(endless, on: nil) == Outcome(output: "self.a\n"))
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

  /// Of all types only this one is promised every notification.
  @Test func runsACommandForEachNotification() async throws {
    let line = ["-q", "-z", "0", "--exec", "echo $NOTIFY_NAME", "-2", "self.a", "-1", "self.c"]
    let posts = ["-p", "self.c", "-p", "self.a", "-p", "self.a"]
    #expect(
      try await runNotifyUtil(line + posts, on: nil) == Outcome(output: "self.c\nself.a\nself.a\n"))
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

  @Test func saysThatACommandFailed() async throws {
    let line = ["-q", "-2", "self.a", "-p", "self.a", "-p", "self.a", "--exec"]
    #expect(
      try await runNotifyUtil(line + ["exit 3"], on: nil)
        == Outcome(
          status: 2,
          errors: String(
            repeating: "notifyutil: --exec: the command exited with status 3\n", count: 2)))
    #expect(
      try await runNotifyUtil(line + [#"[ -e /proc/$$/x ] || kill -9 $$"#], on: nil)
        == Outcome(
          status: 2,
          errors: String(
            repeating: "notifyutil: --exec: the command was killed by signal 9\n", count: 2)))
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

  @Test func doesNotWaitForABusThatCannotCome() async throws {
    let outcome = try await runNotifyUtil(["--wait-for-bus", "--bus=none", "-p", "a"], on: nil)
    #expect(outcome == Outcome())
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

  @Test func isSilentInJSONToo() async throws {
    let line = ["--json", "-q", "-signal", "10", "-1", "self.a", "-p", "self.a"]
    #expect(try await runNotifyUtil(line, on: nil) == Outcome())
  }
}
