// Specifies handlers of shared defaults.
import Observation

@testable import Wormhole

@Suite(.bounded)
struct DefaultsHandlerTests {
  private let group: TemporaryGroup
  private let defaults: SharedDefaults

  init() throws {
    group = try TemporaryGroup()
    defaults = group.group.defaults
  }

  @Test(arguments: [Delivery.thread, .inline, .main, .queue(.global())])
  func aHandlerBeginsWithTheCurrentValue(on delivery: Delivery) async throws {
    let values = Log<Int?>()
    let observation = try defaults.observe(.number, on: delivery) { change in
      values.append(try? change.value)
    }
    await eventually { values.entries == [0] }
    try await defaults.set(1, for: .number)
    await eventually { values.entries == [0, 1] }
    try await defaults.remove(.number)
    await eventually { values.entries == [0, 1, 0] }
    observation.cancel()
  }

  @Test func theSameValueIsReportedAgainAfterAnError() async throws {
    let over = WorkLimit(on: "", timeout: .zero)
    var reader = DefaultsReader<Int>(.number, in: defaults.store, after: nil)
    var counts: [Int?] = []
    try await defaults.set(1, for: .number)
    for limit in [nil, nil, over, nil, nil] {
      counts.append(try? reader.read(within: limit).elements.count)
    }
    #expect(counts == [1, 0, nil, 1, 0])
  }

  @Test @MainActor func noCallFollowsTheEndOnTheMainActor() async throws {
    var calls = 0
    let observation = try defaults.observe(.number) { _ in calls += 1 }
    try await defaults.set(1, for: .number)
    observation.cancel()
    let before = calls
    await turn(.main)
    await turn(.main)
    #expect(calls == before)
    try await defaults.set(2, for: .number)
    await turn(.main)
    await turn(.main)
    #expect(calls == before)
  }

  @Test func callsDoNotOverlapAndTheLastValueIsSeen() async throws {
    let (running, values) = (Log<Bool>(), Log<Int>())
    let observation = try defaults.observe(.number, on: .queue(.global())) { change in
      running.append(true)
      values.append((try? change.value) ?? -1)
      running.append(false)
    }
    for number in 1...100 { try await defaults.set(number, for: .number) }
    await eventually { values.entries.last == 100 && running.entries.last == false }
    #expect(running.entries == values.entries.flatMap { _ in [true, false] })
    #expect(values.entries == Array(Set(values.entries)).sorted())
    observation.cancel()
  }

  @Test func valuesThatCanBeReadAgainAreReported() async throws {
    try await defaults.set(1, for: .number)
    let (path, aside) = ("\(group.path)/defaults", "\(group.path)/aside")
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    try #require(symlink("defaults", path) == 0)
    let values = Log<Int?>()
    let observation = try defaults.observe(.number, on: .thread) { change in
      values.append(try? change.value)
    }
    await eventually { values.entries == [nil] }
    unlink(path)
    try FileManager.default.moveItem(atPath: aside, toPath: path)
    await eventually { values.entries == [nil, 1] }
    observation.cancel()
  }

  @Test func theClosureGoesWithTheObservation() async throws {
    let census = Census()
    var observation: NotificationObservation? = {
      let canary = census.makeCanary()
      return try? group.group.defaults.observe(.number, on: .thread) { _ in canary.sing() }
    }()
    #expect(observation != nil)
    observation = nil
    await eventually { census.deaths == 1 }
  }

  // MARK: - Observable values

  @Test @MainActor func anObservedDefaultFollowsOtherProcesses() async throws {
    let other = group.group.defaults
    let count = try ObservedDefault(.number, in: defaults)
    #expect(count.value == 0)
    let changes = Log<Bool>()
    withObservationTracking {
      _ = count.value
    } onChange: {
      changes.append(true)
    }
    try await other.set(5, for: .number)
    await eventually { await count.value == 5 }
    #expect(changes.entries == [true])
    try await count.set(6)
    #expect(count.value == 6)
    #expect(try await other[.number] == 6)
    try await other.set("x", for: DefaultsKey("number", default: ""))
    await eventually { await count.error != nil }
    #expect(count.value == 6)
    try await other.remove(.number)
    await eventually { await MainActor.run { count.error == nil && count.value == 0 } }
  }

  @Test @MainActor func anObservedDefaultEndsWithItsLastReference() async throws {
    var count: ObservedDefault<Int>? = try ObservedDefault(.number, in: group.group.defaults)
    weak let reference = count
    await turn(.main)
    #expect(reference != nil)
    count = nil
    #expect(reference == nil)
  }
}
