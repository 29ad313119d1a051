// Specifies handlers of shared defaults.
import Observation
import Wormhole

extension DefaultsKey where Value == Int {
  fileprivate static var count: Self { DefaultsKey("count", default: 0) }
}

@Suite(.bounded)
struct DefaultsHandlerTests {
  private let group: TemporaryGroup
  private let defaults: SharedDefaults

  init() throws {
    group = try TemporaryGroup()
    defaults = try group.group.defaults
  }

  @Test(arguments: [Delivery.thread, .direct, .main, .queue(.global())])
  func aHandlerBeginsWithTheCurrentValue(on delivery: Delivery) async throws {
    let values = Log<Int?>()
    let observation = try defaults.observe(.count, on: delivery) { change in
      values.append(try? change.value)
    }
    await eventually { values.entries == [0] }
    try defaults.blocking.set(1, for: .count)
    await eventually { values.entries == [0, 1] }
    try defaults.blocking.remove(.count)
    await eventually { values.entries == [0, 1, 0] }
    observation.cancel()
  }

  @Test @MainActor func noCallFollowsTheEndOnTheMainActor() async throws {
    var calls = 0
    let observation = try defaults.observe(.count) { _ in calls += 1 }
    try defaults.blocking.set(1, for: .count)
    observation.cancel()
    await turn(.main)
    await turn(.main)
    #expect(calls <= 1)
    let before = calls
    try defaults.blocking.set(2, for: .count)
    await turn(.main)
    await turn(.main)
    #expect(calls == before)
  }

  @Test func aHandlerMayRunOnAnActor() async throws {
    actor Counter {
      var values: [Int] = []
      func add(_ value: Int) { values.append(value) }
    }
    let counter = Counter()
    let observation = try defaults.observe(.count, on: counter) { counter, change in
      counter.add((try? change.value) ?? -1)
    }
    try defaults.blocking.set(7, for: .count)
    await eventually { await counter.values.last == 7 }
    observation.cancel()
  }

  @Test func callsDoNotOverlapAndTheLastValueIsSeen() async throws {
    let (running, values) = (Log<Bool>(), Log<Int>())
    let observation = try defaults.observe(.count, on: .queue(.global())) { change in
      running.append(true)
      values.append((try? change.value) ?? -1)
      running.append(false)
    }
    for number in 1...100 { try defaults.blocking.set(number, for: .count) }
    await eventually { values.entries.last == 100 && running.entries.last == false }
    #expect(running.entries == values.entries.flatMap { _ in [true, false] })
    #expect(values.entries == Array(Set(values.entries)).sorted())
    observation.cancel()
  }

  @Test func whatCannotBeReadIsReported() async throws {
    let results = Log<String>()
    let observation = try defaults.observe(.count, on: .thread) { change in
      do throws(WormholeError) {
        results.append("\(try change.value)")
      } catch {
        results.append("\(error)")
      }
    }
    await eventually { results.entries == ["0"] }
    try defaults.blocking.set("x", for: DefaultsKey("count", default: ""))
    await eventually { results.entries.count == 2 }
    #expect(results.entries.last?.contains("count") == true)
    try defaults.blocking.set(3, for: .count)
    await eventually { results.entries.last == "3" }
    observation.cancel()
  }

  @Test @MainActor func whatCanBeReadAgainIsReported() async throws {
    try defaults.blocking.set(1, for: .count)
    let values = Log<Int?>()
    let observation = try defaults.observe(.count, initial: false) { change in
      values.append(try? change.value)
    }
    // The handler's turn on the main actor comes after this.
    let (path, aside) = (group.path, group.path + ".aside")
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try Data().write(to: URL(fileURLWithPath: path))
    await eventually { values.entries == [nil] }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    await eventually { values.entries == [nil, 1] }
    observation.cancel()
  }

  @Test func theClosureGoesWithTheObservation() async throws {
    let census = Census()
    var observation: DefaultsObservation? = {
      let canary = census.makeCanary()
      return try? group.group.defaults.observe(.count, on: .thread) { _ in canary.sing() }
    }()
    #expect(observation != nil)
    observation = nil
    await eventually { census.deaths == 1 }
  }

  // MARK: - Observable values

  @Test @MainActor func anObservedDefaultFollowsOtherProcesses() async throws {
    let other = try group.group.defaults
    let count = try ObservedDefault(.count, in: defaults)
    #expect(count.value == 0)
    let changes = Log<Bool>()
    withObservationTracking {
      _ = count.value
    } onChange: {
      changes.append(true)
    }
    try other.blocking.set(5, for: .count)
    await eventually { await count.value == 5 }
    #expect(changes.entries == [true])
    try await count.set(6)
    #expect(count.value == 6)
    #expect(try other.blocking[.count] == 6)
    try other.blocking.set("x", for: DefaultsKey("count", default: ""))
    await eventually { await count.error != nil }
    #expect(count.value == 6)
    try other.blocking.remove(.count)
    await eventually { await MainActor.run { count.error == nil && count.value == 0 } }
  }

  @Test @MainActor func anObservedDefaultEndsWithItsLastReference() async throws {
    var count: ObservedDefault<Int>? = try ObservedDefault(.count, in: group.group.defaults)
    weak let reference = count
    await turn(.main)
    #expect(reference != nil)
    count = nil
    #expect(reference == nil)
  }
}
