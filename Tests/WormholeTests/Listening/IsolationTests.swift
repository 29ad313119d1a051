// Specifies handlers of notifications and messages that are isolated to actors.
import Wormhole

@Suite(.bounded)
struct IsolationTests {
  /// Counts its calls, in its isolation.
  private actor Counter {
    private(set) var values: [Int] = []

    func note(_ value: Int) { values.append(value) }
  }

  @MainActor
  private final class Label {
    private(set) var texts: [String] = []

    nonisolated init() {}

    func show(_ text: String) { texts.append(text) }
  }

  @Test func messagesReachAHandlerOnTheMainActor() async throws {
    let site = try Site()
    let label = Label()
    let observation = try site.hole.listen(.number) { message in
      label.show("observed \(message.value ?? 0)")
    }
    try site.hole.bind(Listener("label") { label.show("bound \($0.value ?? 0)") }, to: .number)
    try await site.hole.pass(1, to: .number)
    await eventually { await label.texts.sorted() == ["bound 1", "observed 1"] }
    withExtendedLifetime(observation) {}
  }

  @Test func changesOfDefaultsReachAnActor() async throws {
    let (group, counter) = (try TemporaryGroup(), Counter())
    let defaults = group.group.defaults
    let observation = try defaults.observe(.number, on: counter) { counter, change in
      counter.note((try? change.value) ?? -1)
    }
    try await defaults.set(7, for: .number)
    await eventually { await counter.values.last == 7 }
    observation.cancel()
  }

  @Test func messagesReachAnActorInTheirOrder() async throws {
    let site = try Site(.history)
    let (observing, bound) = (Counter(), Counter())
    let observation = try site.hole.listen(.number, on: observing) { counter, message in
      counter.note(message.value ?? 0)
    }
    let listener = Listener<Wormhole.Message<Int>>("counter", on: bound) { counter, message in
      counter.note(message.value ?? 0)
    }
    try site.hole.bind(listener, to: .number)
    for number in 1...100 { try await site.hole.pass(number, to: .number) }
    for counter in [observing, bound] {
      await eventually { await counter.values.count == 100 }
      #expect(await counter.values == Array(1...100))
    }
    withExtendedLifetime(observation) {}
  }

  @Test func notificationsReachTheMainActorAndAnActor() async throws {
    let bus = try PrivateBus(.usual)
    let (center, name) = (try bus.makeCenter(), NotificationName("com.example.changed"))
    let (label, counter) = (Label(), Counter())
    let observations = [
      try center.observe(name) { label.show("observed \($0.name)") },
      try center.observe(name, on: counter) { counter, event in counter.note(event.coalesced) },
      try center.observe(withPrefix: "com.example.ch") { label.show("prefix \($0.name)") },
      try center.observe(withPrefix: "com.example.ch", on: counter) { counter, event in
        counter.note(event.coalesced)
      },
    ]
    try center.bind(Listener("label") { label.show("bound \($0.name)") }, to: name)
    try center.post(name)
    await eventually {
      await label.texts.sorted() == ["bound \(name)", "observed \(name)", "prefix \(name)"]
    }
    await eventually { await counter.values == [1, 1] }
    withExtendedLifetime(observations) {}
  }
}
