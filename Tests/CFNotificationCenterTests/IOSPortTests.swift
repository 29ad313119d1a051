// Specifies that source for iOS works as it is.

@Suite(.bounded)
struct IOSPortTests {
  private let group = "group.org.example.port"
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("ios-port-\(UUID().uuidString)")

  @Test func anAppHearsItsExtensionAndEverybodyElse() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let bus = try PrivateBus()
    let seen = try Recorder(try bus.makeCenter(), NotificationName("\(group).status"))
    let app = try Program("ios-app", [group, folder.path, "4"], on: bus)
    await app.waitForLine("ready")
    for status in ["charging", "full"] {
      let sender = try Program("ios-extension", [group, folder.path, status], on: bus)
      await sender.waitForSuccess()
      await app.waitForLine("\(group).status: \(status)")
    }
    await eventually { seen.posts == 2 }
    try bus.makeCenter().post(NotificationName("\(group).reload"))
    await app.waitForLine("\(group).reload: nothing")
    let poster = try Program("notifyutil", ["-p", "\(group).reload"], on: bus)
    await poster.waitForSuccess()
    await app.waitForSuccess()
    #expect(app.lines.count == 5)
  }

  /// In Swift 6 and Swift 5 mode.
  @Test(arguments: ["apple-sources", "apple-sources-5"])
  func sourcesForApplesSystemsHearEachOther(_ program: String) async throws {
    let bus = try PrivateBus()
    let sources = try Program(program, ["com.example.sources"], on: bus)
    await sources.waitForSuccess()
    #expect(sources.lines.count == 16)
  }
}
