// Specifies that source for iOS works as it is.

@Suite(.bounded)
struct IOSPortTests {
  private let group = "group.org.example.port"
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ios-port-\(UUID().uuidString)")

  @Test func anAppHearsItsExtensionAndEverybodyElse() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let bus = try PrivateBus(.usual)
    let app = try Program("ios-app", [group, folder.path, "4"], on: bus)
    await app.waitForLine("ready")
    for status in ["charging", "full"] {
      let sender = try Program("ios-extension", [group, folder.path, status], on: bus)
      await sender.waitForSuccess()
      await app.waitForLine("\(group).status: \(status)")
    }
    try bus.makeCenter().post(NotificationName("\(group).reload"))
    await app.waitForLine("\(group).reload: nothing")
    let poster = try Program("notifyutil", ["-p", "\(group).reload"], on: bus)
    await poster.waitForSuccess()
    await app.waitForSuccess()
    #expect(app.lines.count == 5)
  }

  @Test func everybodyHearsAnExtension() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let bus = try PrivateBus(.usual)
    let (center, seen) = (try bus.makeCenter(), Recorder())
    let observation = try center.observe(NotificationName("\(group).status"), on: .thread) {
      seen.record($0)
    }
    let sender = try Program("ios-extension", [group, folder.path, "on"], on: bus)
    await sender.waitForSuccess()
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
  }

  /// In Swift 6 and Swift 5 mode.
  @Test(arguments: ["apple-sources", "apple-sources-5"], BusKind.installed)
  func sourcesForApplesSystemsHearEachOther(_ program: String, on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let sources = try Program(program, ["com.example.sources"], on: bus)
    await sources.waitForSuccess()
    #expect(sources.lines.count == 11)
  }
}
