// Specifies what a forked child keeps of its parent.
import Wormhole

@Suite(.bounded)
struct ForkTests {
  /// Kills a program that has forked, but not its child. Returns the number of the child.
  private func killParent(_ program: Program) async throws -> Int32 {
    await eventually { !program.lines.isEmpty }
    let child = try #require(program.lines.first.flatMap { Int32($0) })
    kill(program.processIdentifier, SIGKILL)
    await eventually("the parent goes on") { !program.isRunning }
    try #require(kill(child, 0) == 0)
    return child
  }

  @Test func aCursorEndsWithTheProcessThatTookIt() async throws {
    let group = try TemporaryGroup()
    let program = try group.peer("log-cursor-fork", "name", "cursor")
    let child = try await killParent(program)
    defer { kill(child, SIGKILL) }
    let mailbox = try LogTransit().openMailbox(for: "name", in: group.group.directory)
    #expect(try mailbox.openCursor("cursor").position() == 7)
  }

  @Test func theLockOfANameEndsWithTheProcessThatTookIt() async throws {
    let group = try TemporaryGroup()
    let program = try group.peer("update-fork", "name")
    let child = try await killParent(program)
    defer { kill(child, SIGKILL) }
    let hole = try Wormhole(group: group.group, transit: .coordinatedFile)
    #expect(try await hole.pass(4, to: MessageName<Int>("name")) == 4)
  }
}
