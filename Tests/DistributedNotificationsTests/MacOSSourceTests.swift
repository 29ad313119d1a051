// Specifies that programs for macOS work as they are.

@Suite(.bounded)
struct MacOSSourceTests {
  @Test func aProgramForMacOSHearsAnother() async throws {
    let bus = try PrivateBus(.usual)
    let name = "com.example.changed"
    let observer = try Program("macos-source", ["observe", name], on: bus)
    await observer.waitForLine("ready")
    let poster = try await Program.run("macos-source", ["post", name, "player", "3"], on: bus)
    #expect(poster == Outcome())
    let outcome = await observer.end()
    #expect(outcome.status == 0)
    #expect(
      outcome.output == """
        ready
        \(name) player number 0
        \(name) player number 1
        \(name) player number 2
        \(name) end none -1

        """)
    #expect(outcome.errors == "")
  }

  @Test func postsOfAProcessThatEndsArriveCompleteAndInOrder() async throws {
    let bus = try PrivateBus(.usual)
    let name = "com.example.numbers"
    let count = 2_000
    let observer = try Program("macos-source", ["observe", name], on: bus)
    await observer.waitForLine("ready")
    let poster = try await Program.run("macos-source", ["post", name, "x", "\(count)"], on: bus)
    #expect(poster == Outcome())
    let lines = await observer.end().output.split(separator: "\n")
    #expect(lines.count == count + 2)
    let isInOrder = lines.dropFirst().dropLast().enumerated().allSatisfy { index, line in
      line == "\(name) x number \(index)"
    }
    #expect(isInOrder)
  }
}
