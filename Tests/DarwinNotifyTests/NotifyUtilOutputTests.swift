// Specifies how notifyutil ends when it cannot write.

@Suite(.bounded)
struct NotifyUtilOutputTests {
  /// Each prints a line for an event, and would continue forever.
  private static let registrations = ["-dispatch", "-file", "-check", "-signal"].map {
    [$0, "-w", "self.a", "-p", "self.a"]
  }
  private static let plain = ["-plain", "-w", "self.a", "-p", "self.a"]

  /// Ways to start the tool: with the default action for the signal, ignored, or blocked.
  private static let launchers = ["exec", "trap '' PIPE; exec", "exec env --block-signal=PIPE"]

  @Test(arguments: registrations.map { ($0, launchers[0]) } + launchers.map { (plain, $0) })
  func endsWithTheFirstLineThatNobodyReads(line: [String], launcher: String) async throws {
    let outcome = try await runUnread(line, by: launcher, on: nil)
    #expect(outcome == Outcome(status: SIGPIPE))
  }

  /// Each writes on a bus.
  private static let linesOnABus = [
    ["-w", "com.example.a", "-p", "com.example.a"], ["--monitor", "-p", "com.example.a"],
    ["--json", "--list", "-w", "com.example.a"],
  ]

  @Test func endsWithTheFirstLineOfABusThatNobodyReads() async throws {
    let bus = try PrivateBus()
    let more = [
      ["-1", "com.example.a", "--list", "-w", "com.example.a"],
      ["-g", "com.example.a", "-w", "com.example.a"],
    ]
    for line in Self.linesOnABus + more {
      let outcome = try await runUnread(line, by: Self.launchers[0], on: bus)
      #expect(outcome == Outcome(status: SIGPIPE), "\(line)")
    }
  }

  @Test(arguments: registrations + [plain, ["-g", "self.a"], ["--version"]])
  func complainsWhenItCannotWrite(line: [String]) async throws {
    #expect(try await run(line, to: ">/dev/full", on: nil) == Self.failure(ENOSPC))
    #expect(try await run(line, to: ">&-", on: nil) == Self.failure(EBADF))
    #expect(try await run(line, to: "</dev/null >&0 2>&2", on: nil) == Self.failure(EBADF))
  }

  @Test func complainsWhenItCannotWriteOutputOfABus() async throws {
    let bus = try PrivateBus()
    for line in Self.linesOnABus {
      #expect(try await run(line, to: ">/dev/full", on: bus) == Self.failure(ENOSPC), "\(line)")
      #expect(try await run(line, to: ">&-", on: bus) == Self.failure(EBADF), "\(line)")
    }
  }

  @Test func needsNoOutputWhenItHasNoneToWrite() async throws {
    let line = ["-q", "-1", "self.a", "-p", "self.a"]
    #expect(try await run(line, to: ">&- 2>&- <&-", on: nil) == Outcome())
  }

  private static func failure(_ error: CInt) -> Outcome {
    let reason = String(cString: strerror(error))
    return Outcome(status: 1, errors: "notifyutil: standard output: \(reason)\n")
  }

  /// Runs the command with its standard output in a pipe whose read end is closed.
  private func runUnread(
    _ line: [String], by launcher: String, on bus: PrivateBus?
  ) async throws -> Outcome {
    let makePipe = """
      directory=$(mktemp -d) && mkfifo "$directory/pipe" && exec 3<>"$directory/pipe"
      exec 4>"$directory/pipe" 3>&-; rm -r "$directory"; \(launcher)
      """
    return try await run(line, to: ">&4 4>&-", by: makePipe, on: bus)
  }

  private func run(
    _ line: [String], to redirection: String, by launcher: String = "exec", on bus: PrivateBus?
  ) async throws -> Outcome {
    let script = "\(launcher) \"$0\" \"$@\" \(redirection)"
    let words = ["-c", script, Program.path(of: "notifyutil")] + line
    return try await Program.run("/bin/sh", words, on: bus)
  }
}
