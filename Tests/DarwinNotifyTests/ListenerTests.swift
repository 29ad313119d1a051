// Specifies named listeners.

@Suite(.bounded)
struct ListenerTests {
  private let name: NotificationName = "com.example.changed"

  @Test func hasANameBesideItsAction() {
    let log = Log<String>()
    let listener = Listener<String>("label", on: .direct) { log.append($0) }
    listener.action("message of another module")
    #expect(listener.name == "label")
    #expect(log.entries == ["message of another module"])
  }

  @Test(arguments: BusKind.grounds)
  func isReplacedByTheNextOfItsName(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let (peer, log, census) = (try bus.makePoster(), Log<Int>(), Census())
    for round in 1...100 {
      let canary = census.makeCanary()
      let listener = Listener<NotificationEvent>(
        "label", on: round.isMultiple(of: 2) ? .thread : .direct
      ) { _ in
        canary.sing()
        log.append(round)
      }
      try center.bind(listener, to: name)
    }
    try peer.post(name)
    await eventually { !log.entries.isEmpty }
    try await drain(center, behind: peer, on: .thread)
    #expect(log.entries == [100])
    await eventually("replaced closures were not released") { census.deaths == 99 }
    center.unbind("label", from: name)
    await eventually("the last closure was not released") { census.deaths == 100 }
  }

  @Test(arguments: BusKind.grounds)
  func losesNoPostWhileItIsReplaced(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, poster) = (try bus.makeCenter(), try bus.makeCenter())
    let seen = Recorder()
    let posts = 200
    for _ in 1...posts {
      try center.bind(Listener("label", on: .thread) { seen.record($0) }, to: name)
      try poster.post(name)
    }
    await eventually { seen.posts >= posts }
    try await drain(center, behind: poster, on: .thread)
    #expect(seen.posts == posts)
  }

  @Test(arguments: BusKind.grounds)
  func coexistsWithThoseOfOtherNames(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let log = Log<String>()
    for label in ["a", "b", "caf\u{E9}", "cafe\u{301}"] {
      try center.bind(Listener(label, on: .thread) { _ in log.append(label) }, to: name)
    }
    try bus.makePoster().post(name)
    await eventually { log.entries.count == 4 }
    #expect(log.entries.map { Array($0.utf8).count } == [1, 1, 5, 6])
  }

  @Test(arguments: BusKind.grounds)
  func hearsNothingOnceItIsUnbound(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let log = Log<String>()
    for label in ["a", "b", "c"] {
      try center.bind(Listener(label, on: .thread) { _ in log.append(label) }, to: name)
    }
    center.unbind("a", from: name)
    center.unbind("a", from: name)
    center.unbind("b", from: "com.example.other")
    try peer.post(name)
    await eventually { log.entries == ["b", "c"] }
    let observation = try center.observe(name, on: .thread) { _ in log.append("observation") }
    center.unbindAll(from: name)
    try peer.post(name)
    await eventually { log.entries == ["b", "c", "observation"] }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.grounds)
  func remainsAloneWhenTwoThreadsBindIt(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let (log, census, rounds) = (Log<Int>(), Census(), 200)
    await withTaskGroup(of: Void.self) { group in
      for round in 1...rounds {
        let canary = census.makeCanary()
        group.addTask {
          let listener = Listener<NotificationEvent>("label", on: .thread) { _ in
            canary.sing()
            log.append(round)
          }
          try? center.bind(listener, to: "com.example.changed")
        }
      }
    }
    await eventually("more or fewer than one listener are left") { census.deaths == rounds - 1 }
    try peer.post(name)
    await eventually { log.entries.count == 1 }
    try await drain(center, behind: peer, on: .thread)
    #expect(log.entries.count == 1)
  }

  @Test(arguments: BusKind.grounds)
  func endsWithItsCenter(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let census = Census()
    do {
      let center = try bus.makeCenter()
      let canary = census.makeCanary()
      try center.bind(Listener("label", on: .thread) { _ in canary.sing() }, to: name)
    }
    await eventually("the closure was not released") { census.deaths == 1 }
  }

  @Test(arguments: BusKind.grounds)
  func mayUnbindItself(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePoster())
    let seen = Recorder()
    let listener = Listener<NotificationEvent>("once", on: .thread) { [weak center] event in
      seen.record(event)
      center?.unbind("once", from: event.name)
    }
    try center.bind(listener, to: name)
    for _ in 1...3 { try peer.post(name) }
    await eventually { seen.posts > 0 }
    try await drain(center, behind: peer, on: .thread)
    #expect(seen.events.count == 1)
  }
}
