// Specifies events.
import DarwinNotify
import Testing

@Suite struct NotificationEventTests {
  @Test func standsForOnePostUnlessTold() {
    let event = NotificationEvent(name: "com.example.changed")
    #expect(event.coalesced == 1)
    #expect(NotificationEvent(name: event.name, coalesced: 3).coalesced == 3)
  }

  @Test(arguments: BusKind.installed)
  func saysWhichNameWasPostedHowOften(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let seen = Recorder()
    let observation = try center.observe("com.example.changed", on: .thread) { seen.record($0) }
    for _ in 1...3 { try bus.makePeer().post("com.example.changed") }
    await eventually { seen.posts == 3 }
    #expect(seen.events.allSatisfy { $0.name == "com.example.changed" && $0.coalesced >= 1 })
    withExtendedLifetime(observation) {}
  }
}
