// Specifies what can be seen of a bus.
import TestSupport

@Suite(.bounded)
struct InspectionTests {
  private let name: NotificationName = "com.example.changed"

  @Test func listsNamesInTheOrderOfTheirBytes() async throws {
    let bus = try PrivateBus(.usual)
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
    let bus = try PrivateBus(.usual)
    let center = try bus.makeCenter()
    let observation = try center.observe(name, on: .thread) { _ in }
    let post = try #require(
      try await firstPost(on: bus) { try? center.post("com.example.changed") })
    #expect(post.name == name)
    #expect(post.center == "darwin")
    #expect(post.sender.hasPrefix(":1."))
    #expect(post.processIdentifier == Int64(getpid()))
    #expect(post.program?.isEmpty == false)
    #expect(post.generation != nil && post.region != nil)
    #expect(abs(Int(post.microseconds / 1_000_000) - time(nil)) < 60 * slowness)
    withExtendedLifetime(observation) {}
  }

  @Test func watchesWhatOtherProgramsPost() async throws {
    let bus = try PrivateBus(.usual)
    let peer = try bus.makePeer()
    let post = try #require(
      try await firstPost(on: bus) {
        peer.post("org.example.changed")
        peer.post("com.example.changed")
      })
    #expect(post.name == name)
    #expect(post.generation == nil && post.region == nil)
  }

  @Test func stopsBeforeItBegins() throws {
    let bus = try PrivateBus(.usual)
    try DarwinNotificationCenter.watchPosts(on: .address(bus.address), ready: { .stop }) { _ in
      Issue.record("nobody has posted")
      return .stop
    }
  }

  @Test func needsABus() throws {
    let bus = try PrivateBus(.usual)
    bus.kill()
    #expect(throws: DarwinNotifyError.notConnected) {
      try DarwinNotificationCenter.watchPosts(on: .address(bus.address)) { _ in .stop }
    }
  }

  @Test func saysWhichAddressesItRefuses() throws {
    for address in ["", "a\0b"].map(DarwinNotificationCenter.Bus.address) {
      #expect(throws: DarwinNotifyError.invalidArgument) {
        try DarwinNotificationCenter.watchPosts(on: address) { _ in .stop }
      }
      #expect(throws: DarwinNotifyError.invalidArgument) {
        try DarwinNotificationCenter.names(on: address)
      }
    }
  }

  /// Watches on a separate thread until the first post whose name begins with `com.example.`.
  private func firstPost(
    on bus: PrivateBus, _ act: @escaping @Sendable () -> Void
  ) async throws -> PostRecord? {
    let (address, posts, ends) = (bus.address, Log<PostRecord>(), Log<Bool>())
    DispatchQueue(label: "com.example.watch").async {
      do throws(DarwinNotifyError) {
        try DarwinNotificationCenter.watchPosts(
          on: .address(address), prefix: "com.example.",
          ready: {
            act()
            return .proceed
          },
          {
            posts.append($0)
            return .stop
          })
      } catch {
        Issue.record(error)
      }
      ends.append(true)
    }
    await eventually { ends.entries.count == 1 }
    return posts.entries.first
  }
}
