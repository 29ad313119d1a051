// Specifies what notifyutil does on a bus.

@Suite(.bounded)
struct NotifyUtilTests {
  @Test(arguments: ["dispatch", "file", "signal", "check", "plain"])
  func reportsWhatAnotherProcessPosts(by type: String) async throws {
    let bus = try PrivateBus()
    let listener = try await startNotifyUtil(["-\(type)", "-1", "com.example.a"], on: bus)
    let poster = try await runNotifyUtil(["-p", "com.example.b", "-p", "com.example.a"], on: bus)
    #expect(poster == Outcome())
    let signal = type == "signal" ? "SIGNAL 1\n" : ""
    #expect(await listener.end() == Outcome(output: "\(signal)com.example.a\n"))
  }

  @Test func losesNoFirstSignal() async throws {
    let bus = try PrivateBus(.usual)
    let line = ["-z", "0", "-signal", "10", "-1", "com.example.a", "-p", "com.example.a"]
    for _ in 1...10 {
      let outcome = try await runNotifyUtil(line, on: bus)
      #expect(outcome == Outcome(output: "SIGNAL 10\ncom.example.a\n"))
    }
  }

  /// After each post, by default for 100 ms.
  @Test(arguments: [
    (["-z", "150", "-p", "self.a", "-p", "self.a"], 300), (["-p", "self.a", "-p", "self.a"], 200),
    (
      [
        "-z", "150", "-signal", "10", "-1", "self.a", "-p", "self.a", "-1", "self.b", "-p",
        "self.b",
      ],
      300
    ),
  ])
  func pausesAfterAPost(line: [String], milliseconds: Int) async throws {
    let start = ContinuousClock.now
    _ = try await runNotifyUtil(line, on: nil)
    #expect(.now - start >= .milliseconds(milliseconds))
  }

  @Test func usesTheGivenBus() async throws {
    let bus = try PrivateBus()
    let seen = try Recorder(try bus.makeCenter(), "com.example.a")
    for (index, option) in [["--bus", bus.address], ["--bus=\(bus.address)"]].enumerated() {
      let outcome = try await runNotifyUtil(
        ["-z", "0", "-p", "com.example.a"] + option, on: nil,
        environment: ["DARWIN_NOTIFY_BUS": "none"])
      #expect(outcome == Outcome())
      await eventually { seen.posts == index + 1 }
    }
  }
}
