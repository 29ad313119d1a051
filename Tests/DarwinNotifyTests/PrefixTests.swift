// Specifies observers of a prefix.

@Suite(.bounded)
struct PrefixTests {
  @Test func theEventSaysWhichNameWasPosted() async throws {
    let (stage, seen) = (try Stage(), Recorder())
    let notifications = try stage.center.notifications(withPrefix: "com.x")
    let observation = try stage.center.observe(withPrefix: "", on: .thread) { seen.record($0) }
    for name in ["com.x", "com.y", "com.x.y", "com.xy"] as [NotificationName] {
      try stage.poster.post(name)
    }
    var names: [NotificationName] = []
    for await event in notifications {
      #expect(event.coalesced == 1 && event.dropped == 0)
      names.append(event.name)
      if names.count == 3 { break }
    }
    #expect(names == ["com.x", "com.x.y", "com.xy"])
    await eventually { seen.events.map(\.name) == ["com.x", "com.y", "com.x.y", "com.xy"] }
    observation.cancel()
  }

  @Test func postsAreNotMerged() async throws {
    let bus = try PrivateBus(.usual)
    let (center, peer) = (try bus.makeCenter(), try bus.makePeer())
    var iterator = try center.notifications(withPrefix: "com.").makeAsyncIterator()
    for _ in 0..<100 { peer.post("com.example.changed") }
    for _ in 0..<100 {
      #expect(await iterator.next() == NotificationEvent(name: "com.example.changed"))
    }
  }

  @Test func registeredNamesAreHeardWithoutABus() async throws {
    let stage = try Stage(.none)
    var iterator = try stage.center.notifications(withPrefix: "com.").makeAsyncIterator()
    let observation = try stage.poster.observe("com.example.changed", on: .thread) { _ in }
    try stage.poster.post("com.example.changed")
    #expect(await iterator.next() == NotificationEvent(name: "com.example.changed"))
    withExtendedLifetime(observation) {}
  }

  @Test func aPrefixThatCannotBeginANameIsRefused() throws {
    let center = try DarwinNotificationCenter(bus: .noBus)
    #expect(throws: DarwinNotifyError.invalidArgument) {
      try center.notifications(withPrefix: "a\0b")
    }
    #expect(throws: DarwinNotifyError.nameTooLong) {
      try center.observe(withPrefix: String(repeating: "n", count: 512), on: .thread) { _ in }
    }
  }
}
