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
}
