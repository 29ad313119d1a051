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
    let poster = try Program("swift-poster", ["com.example.other", name.rawValue], on: bus)
    await poster.waitForSuccess()
    await listener.waitForLine("received com.example.changed (1 post)")
    await listener.waitForSuccess()
    #expect(!listener.lines.contains("never seen"))
  }

  @Test func thisProcessHearsThePoster() async throws {
    let bus = try PrivateBus(.usual)
    let center = try bus.makeCenter()
    let seen = try Recorder(center, name)
    let poster = try Program("swift-poster", [name.rawValue, name.rawValue], on: bus)
    await poster.waitForSuccess()
    await eventually { seen.posts == 2 }
    #expect(poster.lines == ["posted com.example.changed", "posted com.example.changed"])
  }

  @Test(arguments: BusKind.installed, ["run-loop", "dispatch-main", "async-main"])
  func theMainQueueIsServed(on kind: BusKind, by shape: String) async throws {
    let bus = try PrivateBus(kind)
    let program = try Program("shape-\(shape)", [name.rawValue], on: bus)
    await program.waitForLine("ready")
    try bus.makePeer().post(name)
    await program.waitForLine("delivered com.example.changed")
    await program.waitForSuccess()
  }

  @Test func allNamesAreUsableBesideFoundation() async throws {
    let bus = try PrivateBus(.usual)
    let program = try Program("import-probe", [], on: bus)
    await program.waitForSuccess()
    #expect(program.lines == ["com.example.probe true"])
  }
}
