// Specifies the example programs, and the main threads of programs.

@Suite(.bounded)
struct ProgramTests {
  private let name: NotificationName = "com.example.changed"

  @Test func theListenerHearsThisProcessAndThePoster() async throws {
    let bus = try PrivateBus(.usual)
    let listener = try Program("swift-listener", [name.rawValue, "2"], on: bus)
    await listener.waitForLine("ready")
    let center = try bus.makeCenter()
    try center.post(name)
    await listener.waitForLine("heard com.example.changed")
    // A sequence that is behind merges posts.
    await listener.waitForLine("received com.example.changed (1 post)")
    let poster = try Program("swift-poster", ["com.example.other", name.rawValue], on: bus)
    await poster.waitForSuccess()
    #expect(poster.lines == ["posted com.example.other", "posted com.example.changed"])
    await listener.waitForSuccess()
    #expect(!listener.lines.contains("never seen"))
  }

  @Test(arguments: ["run-loop", "dispatch-main", "async-main"])
  func theMainQueueIsServed(by shape: String) async throws {
    let bus = try PrivateBus()
    let program = try Program("shape-\(shape)", [name.rawValue], on: bus)
    await program.waitForLine("ready")
    try bus.makePeer().post(name)
    await program.waitForLine("delivered com.example.changed")
    await program.waitForSuccess()
  }

  @Test(arguments: ["executor-loop", "executor-loop-5"])
  func theTaskExecutorWorksInEachLanguageMode(_ shape: String) async throws {
    let bus = try PrivateBus()
    let program = try Program(shape, [name.rawValue], on: bus)
    await program.waitForLine("ready")
    try bus.makePeer().post(name)
    await program.waitForLine("received com.example.changed")
    await program.waitForSuccess()
  }
}
