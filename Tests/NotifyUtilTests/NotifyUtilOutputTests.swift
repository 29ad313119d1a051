// Specifies how notifyutil ends when it cannot write.

@Suite(.bounded)
struct NotifyUtilOutputTests {
  private static let plain = ["-plain", "-w", "self.a", "-p", "self.a"]

  /// Each command prints a line. The first ones would continue forever.
  private static let lines =
    ["-dispatch", "-file", "-check", "-signal"].map { [$0, "-w", "self.a", "-p", "self.a"] } + [
      plain, ["-w", "com.example.a", "-p", "com.example.a"], ["--monitor", "-p", "com.example.a"],
      ["--json", "--list", "-w", "com.example.a"],
    ]

  /// Ways to start the tool: with the default action for the signal, ignored, or blocked.
  private static let launchers = ["exec", "trap '' PIPE; exec", "exec env --block-signal=PIPE"]

  private static let more = [
    ["-1", "com.example.a", "--list", "-w", "com.example.a"],
    ["-g", "com.example.a", "-w", "com.example.a"],
  ]

  @Test(arguments: (lines + more).map { ($0, launchers[0]) } + launchers[1...].map { (plain, $0) })
  func endsWithTheFirstLineThatNobodyReads(line: [String], launcher: String) async throws {
    let outcome = try await runUnread(line, by: launcher)
    #expect(outcome == Outcome(status: SIGPIPE))
  }

  @Test(arguments: lines + [["-g", "self.a"], ["--version"]])
  func complainsWhenItCannotWrite(line: [String]) async throws {
    #expect(try await run(line, to: ">/dev/full") == Self.failure(ENOSPC))
    #expect(try await run(line, to: ">&-") == Self.failure(EBADF))
    #expect(try await run(line, to: "</dev/null >&0 2>&2") == Self.failure(EBADF))
  }

  @Test func needsNoOutputWhenItHasNoneToWrite() async throws {
    let line = ["-q", "-1", "self.a", "-p", "self.a"]
    #expect(try await run(line, to: ">&- 2>&- <&-") == Outcome())
  }

  private static func failure(_ error: CInt) -> Outcome {
    let reason = String(cString: strerror(error))
    return Outcome(status: 1, errors: "notifyutil: standard output: \(reason)\n")
  }

  /// Runs the command with its standard output in a pipe whose read end is closed.
  private func runUnread(_ line: [String], by launcher: String) async throws -> Outcome {
    let makePipe = """
      directory=$(mktemp -d) && mkfifo "$directory/pipe" && exec 3<>"$directory/pipe"
      exec 4>"$directory/pipe" 3>&-; rm -r "$directory"; \(launcher)
      """
    return try await run(line, to: ">&4 4>&-", by: makePipe)
  }

  private func run(
    _ line: [String], to redirection: String, by launcher: String = "exec"
  ) async throws -> Outcome {
    let script = "\(launcher) \"$0\" \"$@\" \(redirection)"
    let words = ["-c", script, Program.path(of: "notifyutil")] + line
    return try await Program.run("/bin/sh", words, on: try PrivateBus())
  }
}
