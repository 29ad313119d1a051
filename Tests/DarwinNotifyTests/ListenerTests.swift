// Specifies named listeners.

@Suite(.bounded)
struct ListenerTests {
  private let name: NotificationName = "com.example.changed"
  private let stage: Stage

  init() throws { stage = try Stage() }

  @Test func isReplacedByTheNextOfItsName() async throws {
    let (log, census) = (Log<Int>(), Census())
    for round in 1...100 {
      let canary = census.makeCanary()
      let delivery: Delivery = round.isMultiple(of: 2) ? .thread : .inline
      let listener = Listener<NotificationEvent>("label", on: delivery) { _ in
        canary.sing()
        log.append(round)
      }
      try stage.center.bind(listener, to: name)
    }
    try stage.poster.post(name)
    await eventually { !log.entries.isEmpty }
    try await stage.drain()
    #expect(log.entries == [100])
    await eventually("replaced closures were not released") { census.deaths == 99 }
    stage.center.unbind("label", from: name)
    await eventually("the last closure was not released") { census.deaths == 100 }
  }

  @Test func losesNoPostWhileItIsReplaced() async throws {
    let (seen, posts) = (Recorder(), 200)
    for _ in 1...posts {
      try stage.center.bind(Listener("label", on: .thread) { seen.record($0) }, to: name)
      try stage.poster.post(name)
    }
    await eventually { seen.posts >= posts }
    try await stage.drain()
    #expect(seen.posts == posts)
  }

  @Test func hearsNothingOnceItIsUnbound() async throws {
    let (center, log) = (stage.center, Log<String>())
    for label in ["a", "b", "c"] {
      try center.bind(Listener(label, on: .thread) { _ in log.append(label) }, to: name)
    }
    center.unbind("a", from: name)
    center.unbind("a", from: name)
    center.unbind("b", from: "com.example.other")
    try stage.poster.post(name)
    await eventually { log.entries == ["b", "c"] }
    let observation = try center.observe(name, on: .thread) { _ in log.append("observation") }
    center.unbindAll(from: name)
    try stage.poster.post(name)
    await eventually { log.entries == ["b", "c", "observation"] }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: [false, true])
  func isNotBoundIfItIsUnboundWhileItIsBound(byUnbindingAll: Bool) async throws {
    let (center, name, log) = (stage.center, name, Log<String>())
    do {
      // The captures of a replaced listener are released inside the call that replaces it.
      let unbinding = AtEnd {
        guard byUnbindingAll else { return center.unbind("label", from: name) }
        center.unbindAll(from: name)
      }
      let old = Listener<NotificationEvent>("label", on: .thread) { _ in
        withExtendedLifetime(unbinding) {}
        log.append("old")
      }
      try center.bind(old, to: name)
    }
    let other: NotificationName = "com.example.other"
    try center.bind(Listener("label", on: .thread) { _ in log.append("other") }, to: other)
    try center.bind(Listener("label", on: .thread) { _ in log.append("new") }, to: name)
    try stage.poster.post(name)
    try stage.poster.post(other)
    try await stage.drain()
    await eventually { log.entries == ["other"] }
    try center.bind(Listener("label", on: .thread) { _ in log.append("next") }, to: name)
    try stage.poster.post(name)
    await eventually { log.entries == ["other", "next"] }
  }

  @Test func remainsAloneWhenManyTasksBindIt() async throws {
    let (log, census, rounds) = (Log<Int>(), Census(), 200)
    await withTaskGroup(of: Void.self) { group in
      for round in 1...rounds {
        let canary = census.makeCanary()
        group.addTask { [center = stage.center] in
          let listener = Listener<NotificationEvent>("label", on: .thread) { _ in
            canary.sing()
            log.append(round)
          }
          try? center.bind(listener, to: "com.example.changed")
        }
      }
    }
    await eventually("more or fewer than one listener are left") { census.deaths == rounds - 1 }
    try stage.poster.post(name)
    await eventually { log.entries.count == 1 }
    try await stage.drain()
    #expect(log.entries.count == 1)
  }
}

/// Calls a function when it ends.
private final class AtEnd: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  deinit {
    body()
  }
}
