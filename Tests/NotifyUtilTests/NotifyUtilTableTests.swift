// Specifies the live view of the table, and its metrics.
import TestSupport

@Suite(.bounded)
struct NotifyUtilTableTests {
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  @Test func showsNamesWithTheirRate() async throws {
    let names = ["-w", "com.example.a", "-w", "com.example.b"]
    let listener = try await startNotifyUtil(names, on: bus)
    let top = try Program("notifyutil", ["--top", "com.example."], on: bus)
    await top.waitForOutput("  RATE/s       TOTAL       STATE  PROC  NAME")
    await eventually {
      _ = try? await runNotifyUtil(["-z", "0", "-p", "com.example.b"], on: bus)
      return top.lines.contains { $0.contains(#/^ +[1-9][0-9]*\.[0-9] .* 1  com\.example\.b$/#) }
    }
    #expect(top.lines.contains { $0.contains(#/^ +0\.0 +0 +0 +1  com\.example\.a$/#) })
    #expect(top.lines[0].hasPrefix("2 of 32768 slots and 1 of 1024 processes in use; "))
    #expect(top.lines.allSatisfy { $0.count <= 80 })
    #expect(top.isRunning && listener.isRunning)
  }

  @Test func showsAProcessThatIsStoppedWithUnreadPosts() async throws {
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    let top = try Program("notifyutil", ["--top"], on: bus)
    listener.send(SIGSTOP)
    await listener.waitUntilStopped()
    #expect(try await runNotifyUtil(["-p", "com.example.a"], on: bus) == Outcome())
    await eventually {
      top.lines.contains {
        $0.contains(#/^ +[0-9]+ +1 +1  stopped  notifyutil$/#)
          && $0.contains(" \(listener.processIdentifier) ")
      }
    }
    listener.send(SIGCONT)
    await listener.waitForLine("com.example.a")
  }

  @Test func endsAtItsTimeout() async throws {
    let outcome = try await runNotifyUtil(["--timeout", "0.1", "--top"], on: bus)
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.output.hasPrefix("no table; \(bus.address)"))
  }

  /// A terminal is restored, whatever ends the program.
  @Test(.enabled(if: access("/usr/bin/script", X_OK) == 0, "script is not installed"))
  func restoresTheTerminal() async throws {
    let tool = Program.path(of: "notifyutil")
    for line in ["printf q; sleep 60", "sleep 60"] {
      let ending = line.hasPrefix("printf") ? "" : "--timeout 0.5"
      let command = "stty rows 10 cols 40; stty -g; '\(tool)' \(ending) --top; stty -g"
      let shell = "(\(line)) | /usr/bin/script -qec \"\(command)\" /dev/null"
      let program = try Program("/bin/sh", ["-c", shell], on: bus)
      await eventually { program.output.contains("\u{1B}[?1049l") }
      await eventually {
        let settings = program.output.matches(of: #/[0-9a-f]+:[0-9a-f:]{40,}/#).map(\.output)
        return settings.count == 2 && settings[0] == settings[1]
      }
    }
  }

  @Test func printsMetrics() async throws {
    let listener = try await startNotifyUtil(
      ["-w", #"com.example."a\"#, "-s", #"com.example."a\"#, "7"], on: bus)
    try bus.makeCenter().post(#"com.example."a\"#)
    let outcome = try await runNotifyUtil(["--metrics"], on: bus)
    let lines = outcome.output.split(separator: "\n").map(String.init)
    let name = #"{name="com.example.\"a\\"}"#
    #expect(lines.contains("darwin_notify_posts_total\(name) 1"), "\(outcome)")
    #expect(lines.contains("darwin_notify_state\(name) 7"))
    #expect(lines.contains("darwin_notify_holders\(name) 1"))
    let process = #"{pid="\#(listener.processIdentifier)",program="notifyutil"}"#
    #expect(lines.contains("darwin_notify_process_names\(process) 1"))
    #expect(lines.contains { $0.hasPrefix("darwin_notify_process_stopped\(process) ") })
    #expect(lines.contains("darwin_notify_table_slots 32768"))
    #expect(lines.contains("darwin_notify_table_slots_used 1"))
    #expect(lines.last == "# EOF" && outcome.status == 0 && outcome.errors.isEmpty)
  }

  @Test(OpenMetrics.isNeeded) func metricsAreReadAsTheyAreMeant() async throws {
    let names = [#"com.example."a\"#, "com.example.\r\nforged 1", "com.example.\u{2028}\u{E9}"]
    let listener = try await startNotifyUtil(names.flatMap { ["-w", $0] }, on: bus)
    let outcome = try await runNotifyUtil(["--metrics"], on: bus)
    let samples = try await OpenMetrics.samples(of: outcome)
    let holders = samples.filter { $0.name == "darwin_notify_holders" && $0.value == 1 }
    #expect(Set(holders.map { $0.labels["name"] }) == Set(names), "\(outcome)")
    let process = samples.first { $0.name == "darwin_notify_process_names" }
    #expect(process?.labels["pid"] == "\(listener.processIdentifier)" && process?.value == 3)
  }
}
