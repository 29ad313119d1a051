// Specifies what notifyutil does on a bus.

@Suite(.bounded)
struct NotifyUtilTests {
  private static let types = ["dispatch", "file", "signal", "check", "plain"]

  @Test(arguments: BusKind.installed, types)
  func reportsWhatAnotherProcessPosts(on kind: BusKind, by type: String) async throws {
    let bus = try PrivateBus(kind)
    let listener = try await startNotifyUtil(["-\(type)", "-1", "com.example.a"], on: bus)
    let poster = try await runNotifyUtil(["-p", "com.example.b", "-p", "com.example.a"], on: bus)
    #expect(poster == Outcome())
    let signal = type == "signal" ? "SIGNAL 1\n" : ""
    #expect(await listener.end() == Outcome(output: "\(signal)com.example.a\n"))
  }

  @Test func printsAtOnceIntoAPipe() async throws {
    let bus = try PrivateBus(.usual)
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    for count in 1...3 {
      _ = try await runNotifyUtil(["-z", "0", "-p", "com.example.a"], on: bus)
      await eventually { listener.lines.count == count }
    }
    #expect(listener.output == "com.example.a\ncom.example.a\ncom.example.a\n")
    #expect(listener.isRunning)
  }

  @Test func losesNoFirstSignal() async throws {
    let bus = try PrivateBus(.usual)
    let line = ["-z", "0", "-signal", "10", "-1", "com.example.a", "-p", "com.example.a"]
    for _ in 1...10 {
      let outcome = try await runNotifyUtil(line, on: bus)
      #expect(outcome == Outcome(output: "SIGNAL 10\ncom.example.a\n"))
    }
  }

  @Test func keepsStatesWhileAProcessIsRegistered() async throws {
    let bus = try PrivateBus(.usual)
    let (set, get) = (["-s", "com.example.a", "5"], ["-g", "com.example.a"])
    #expect(try await runNotifyUtil(set + get, on: bus).output == "com.example.a 0\n")
    let listener = try await startNotifyUtil(["-w", "com.example.a"], on: bus)
    #expect(try await runNotifyUtil(set, on: bus) == Outcome())
    #expect(try await runNotifyUtil(get, on: bus) == Outcome(output: "com.example.a 5\n"))
    #expect(listener.isRunning)
  }

  @Test func pausesAfterAPost() async throws {
    let bus = try PrivateBus(.usual)
    let posts = ["-p", "com.example.a", "-p", "com.example.a"]
    let clock = ContinuousClock()
    let long = try await clock.measure {
      _ = try await runNotifyUtil(["-z", "150"] + posts, on: bus)
    }
    #expect(long >= .milliseconds(300))
    let usual = try await clock.measure { _ = try await runNotifyUtil(posts, on: bus) }
    #expect(usual >= .milliseconds(200))
    let signalled = try await clock.measure {
      let line = ["-z", "150", "-signal", "10", "-1", "self.a", "-p", "self.a"]
      _ = try await runNotifyUtil(line + ["-1", "self.b", "-p", "self.b"], on: nil)
    }
    #expect(signalled >= .milliseconds(300))
  }

  @Test func usesTheGivenBus() async throws {
    let bus = try PrivateBus(.usual)
    let (center, seen) = (try bus.makeCenter(), Recorder())
    let observation = try center.observe("com.example.a", on: .thread) { seen.record($0) }
    let none = ["DARWIN_NOTIFY_BUS": "none"]
    for (index, option) in [["--bus", bus.address], ["--bus=\(bus.address)"]].enumerated() {
      let line = ["-z", "0", "-p", "com.example.a"] + option
      #expect(try await runNotifyUtil(line, on: nil, environment: none) == Outcome())
      await eventually { seen.posts == index + 1 }
    }
    withExtendedLifetime(observation) {}
  }
}
