// Specifies what a forked child keeps of its parent.
import Wormhole

@Suite(.bounded)
struct ForkTests {
  @Test func aCursorEndsWithTheProcessThatTookIt() async throws {
    let group = try TemporaryGroup()
    let program = try group.peer("cursor-fork", "name", "cursor")
    await eventually { !program.lines.isEmpty }
    let child = try #require(program.lines.first.flatMap { Int32($0) })
    defer { kill(child, SIGKILL) }
    kill(program.processIdentifier, SIGKILL)
    await eventually("the parent goes on") { !program.isRunning }
    try #require(kill(child, 0) == 0)
    let store = group.group.store(named: "wormhole")
    #expect(try store.openCursor("cursor", of: "name").position() == 7)
    kill(child, SIGTERM)
    await eventually("the child goes on") { kill(child, 0) != 0 }
  }

  @Test func aForkedChildCannotUseAStore() async throws {
    let group = try TemporaryGroup()
    await (try group.peer("store-fork", "name")).waitForSuccess()
    #expect(try await Wormhole(group: group.group).message(MessageName<Int>("name")) == 1)
  }
}
