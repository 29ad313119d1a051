// Specifies what can be seen of a bus.
import DistributedNotifications
import TestSupport

@Suite(.bounded)
struct InspectionTests {
  private let bus: PrivateBus

  init() throws { bus = try PrivateBus() }

  private let name: NotificationName = "com.example.changed"

  @Test func listsNamesInTheOrderOfTheirBytes() async throws {
    let center = try bus.makeCenter()
    #expect(try DarwinNotificationCenter.names(on: .address(bus.address)).isEmpty)
    let observations = try ["com.example.b", "com.example.a", "com.example.\u{E9}"].map {
      try center.observe(NotificationName($0), on: .thread) { _ in }
    }
    let names = try DarwinNotificationCenter.names(on: .address(bus.address))
    #expect(names.map(\.name) == ["com.example.a", "com.example.b", "com.example.\u{E9}"])
    #expect(names.allSatisfy { $0.holders == [getpid()] && $0.state == 0 })
    try center.post("com.example.a")
    let after = try DarwinNotificationCenter.names(on: .address(bus.address))
    #expect(after.first?.generation == names.first.map { $0.generation + 1 })
    withExtendedLifetime(observations) {}
  }

  @Test func watchesWhatProgramsWithTheLibraryPost() async throws {
    let center = try bus.makeCenter()
    let observation = try center.observe(name, on: .thread) { _ in }
    let posts = try await watch()
    try center.post("org.example.changed")
    try center.post(name)
    var iterator = posts.makeAsyncIterator()
    let post = try #require(try await iterator.next())
    #expect(post.name == name)
    #expect(post.center == "darwin")
    #expect(post.sender.hasPrefix(":1."))
    #expect(post.processIdentifier == Int64(getpid()))
    #expect(post.program?.isEmpty == false)
    #expect(post.generation != nil && post.region != nil)
    #expect(abs(Int(post.microseconds / 1_000_000) - time(nil)) < 60 * slowness)
    withExtendedLifetime(observation) {}
  }

  @Test func aWatchLeavesTheBusWithItsTaskOrItsSequence() async throws {
    let peer = try bus.makePeer()
    let posts = try await watch()
    #expect(peer.countConnections() == 1)
    let task = Task { for try await _ in posts {} }
    task.cancel()
    try await task.value
    await eventually { peer.countConnections() == 0 }
    _ = try await watch()
    await eventually { peer.countConnections() == 0 }
  }

  @Test func aLostBusEndsTheWatchAndWithoutOneThereIsNone() async throws {
    let posts = try await watch()
    bus.kill()
    await #expect(throws: DarwinNotifyError.notConnected) { for try await _ in posts {} }
    await #expect(throws: DarwinNotifyError.notConnected) { _ = try await watch() }
  }

  @Test func saysWhichAddressesItRefuses() async throws {
    for address in ["", "a\0b"].map(DarwinNotificationCenter.Bus.address) {
      await #expect(throws: DarwinNotifyError.invalidArgument) {
        _ = try await DarwinNotificationCenter.posts(on: address)
      }
      #expect(throws: DarwinNotifyError.invalidArgument) {
        try DarwinNotificationCenter.names(on: address)
      }
      #expect(throws: DarwinNotifyError.invalidArgument) {
        try DarwinNotificationCenter(bus: address)
      }
    }
  }

  @Test func countsWhatACenterDoes() async throws {
    let center = try bus.makeCenter()
    let observers = try (1...2).map { _ in try Recorder(center, name) }
    let before = try center.statistics()
    #expect(before.observers == 2 && before.names == 1 && before.uncountedNames == 0)
    #expect(before.sharesTable && before.connections == 1)
    let other = try bus.makeCenter()
    let registration = try Recorder(other, name)
    #expect(before.tableID != 0)
    #expect(try other.statistics().tableID == before.tableID)
    try center.post("com.example.other")
    await eventually {
      (try? center.statistics().signalsSent) == before.signalsSent + 1
    }
    withExtendedLifetime((observers, registration)) {}
  }

  @Test func handsReportsToTheProgram() async throws {
    let log = Log<Diagnostics.Report>()
    Diagnostics.handler = { log.append($0) }
    defer { Diagnostics.handler = nil }
    let center = try bus.makeCenter()
    let observation = try center.observe(name, on: .thread) { _ in }
    await eventually {
      log.entries.contains {
        $0.level == .debug && $0.text.contains("found the bus \(bus.address)")
      }
    }
    DistributedNotificationCenter.default()
      .onError(.notAPropertyList(path: "userInfo[0]", type: "URL"))
    let errors = log.entries.filter { $0.level == .error }
    #expect(errors.contains { $0.text.hasPrefix("DistributedNotificationCenter: ") })
    #expect(errors.contains { $0.metadata == ["path": "userInfo[0]", "type": "URL"] })
    withExtendedLifetime(observation) {}
  }

  /// Watches the posts whose names begin with `com.example.`.
  private func watch() async throws -> AsyncThrowingStream<PostRecord, any Error> {
    try await DarwinNotificationCenter.posts(on: .address(bus.address), prefix: "com.example.")
  }
}
