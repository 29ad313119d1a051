// Specifies that programs for macOS work as they are.

@Suite(.bounded)
struct MacOSSourceTests {
  @Test func postsOfAProcessThatEndsArriveCompleteAndInOrder() async throws {
    let bus = try PrivateBus(.usual)
    let name = "com.example.numbers"
    let count = 2_000
    let observer = try Program("macos-source", ["observe", name], on: bus)
    await observer.waitForLine("ready")
    let poster = try await Program.run("macos-source", ["post", name, "x", "\(count)"], on: bus)
    #expect(poster == Outcome())
    let outcome = await observer.end()
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    let numbers = (0..<count).map { "\(name) x number \($0)" }
    let isComplete = observer.lines == ["ready"] + numbers + ["\(name) end none -1"]
    #expect(isComplete)
  }
}
