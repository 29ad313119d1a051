// Specifies who posted an event.

@Suite(.bounded)
struct SenderTests {
  private let name: NotificationName = "com.example.changed"
  private let stage: Stage

  init() throws { stage = try Stage() }

  @Test func ownPostsAreKnownAndOthersAreNot() async throws {
    let seen = Recorder()
    let observation = try stage.center.observe(name, on: .thread) { seen.record($0) }
    for isOwn in [true, false, true] {
      let before = seen.events.count
      try (isOwn ? stage.center : stage.poster).post(name)
      await eventually { seen.events.count == before + 1 }
    }
    #expect(seen.events.map(\.sender) == [.current, nil, .current])
    withExtendedLifetime(observation) {}
  }

  @Test func aSequenceKeepsTheSenderOfOwnPostsItMerges() async throws {
    let notifications = try stage.center.notifications(named: name)
    var iterator = notifications.makeAsyncIterator()
    for _ in 1...3 { try stage.center.post(name) }
    try await stage.drain(on: .inline)
    var event = try #require(await iterator.next())
    #expect(event.coalesced == 3 && event.sender?.isOwn == true)
    try stage.center.post(name)
    try stage.poster.post(name)
    try await stage.drain(on: .inline)
    event = try #require(await iterator.next())
    #expect(event.coalesced == 2 && event.sender == nil)
  }

  @Test func anObserverOfAPrefixKnowsOwnPosts() async throws {
    let notifications = try stage.center.notifications(withPrefix: "com.example.")
    try stage.center.post(name)
    var iterator = notifications.makeAsyncIterator()
    #expect(await iterator.next()?.sender == .current)
  }
}
