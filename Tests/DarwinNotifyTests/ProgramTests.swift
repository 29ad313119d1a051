// Specifies the example programs, and the main threads of programs.
import DarwinNotify
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ProgramTests {
  private let name: NotificationName = "com.example.changed"

  @Test(arguments: BusKind.installed)
  func theListenerHearsThePoster(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let listener = try Program("swift-listener", [name.rawValue, "1"], on: bus)
    await listener.waitForLine("ready")
    let poster = try Program("swift-poster", ["com.example.other", name.rawValue], on: bus)
    await poster.waitForSuccess()
    await listener.waitForLine("received com.example.changed (1 post)")
    await listener.waitForSuccess()
  }

  @Test(arguments: BusKind.installed)
  func theListenerHearsThisProcess(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let listener = try Program("swift-listener", [name.rawValue, "2"], on: bus)
    await listener.waitForLine("ready")
    let center = try bus.makeCenter()
    try center.post(name)
    await listener.waitForLine("heard com.example.changed")
    try center.post(name)
    await listener.waitForSuccess()
    #expect(!listener.lines.contains("never seen"))
  }

  @Test(arguments: BusKind.installed)
  func thisProcessHearsThePoster(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let seen = Recorder()
    let observation = try center.observe(name, on: .thread) { seen.record($0) }
    let poster = try Program("swift-poster", [name.rawValue, name.rawValue], on: bus)
    await poster.waitForSuccess()
    await eventually { seen.posts == 2 }
    #expect(poster.lines == ["posted com.example.changed", "posted com.example.changed"])
    withExtendedLifetime(observation) {}
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

  @Test(arguments: BusKind.installed)
  func allNamesAreUsableBesideFoundation(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let program = try Program("import-probe", [], on: bus)
    await program.waitForSuccess()
    #expect(program.lines == ["com.example.probe true"])
  }
}
