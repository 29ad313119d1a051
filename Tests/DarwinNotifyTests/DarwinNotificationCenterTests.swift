// Specifies the center.

@Suite(.bounded)
struct DarwinNotificationCenterTests {
  private let name: NotificationName = "com.example.changed"

  @Test(arguments: BusKind.grounds)
  func aPostReachesAnotherConnection(on kind: BusKind) async throws {
    let stage = try Stage(kind)
    let seen = try Recorder(stage.center, name)
    try stage.poster.post(name)
    await eventually { seen.posts == 1 }
    try await stage.drain()
    #expect(seen.posts == 1)
  }

  @Test(arguments: [false, true])
  func flushingWaitsUntilThePostsAreSent(blockingTheThread: Bool) async throws {
    let bus = try PrivateBus(.usual)
    let peer = try bus.makePeer()
    let center = try bus.makeCenter()
    try center.post(name)
    // Other tests may have posts that wait for a bus that is gone: flushing covers all of them.
    do {
      if blockingTheThread {
        try flush(center)
      } else {
        try await center.waitUntilFlushed(timeout: .seconds(10))
      }
    } catch DarwinNotifyError.timedOut, DarwinNotifyError.notConnected {
      // That is about them.
    }
    #expect(peer.nextPostedName() == name)
  }

  private func flush(_ center: DarwinNotificationCenter) throws {
    try center.flush(timeout: .seconds(10))
  }

  @Test func isolatedOnesNeverHearEachOther() async throws {
    let centers = [try DarwinNotificationCenter.isolated(), try .isolated()]
    let seen = try centers.map { try Recorder($0, name, on: .inline) }
    try? centers[0].post(name)
    await eventually { seen[0].posts == 1 }
    #expect(seen[1].posts == 0 && !centers[0].isOnBus)
  }

  @Test func itsConnectionEndsWithIt() async throws {
    let bus = try PrivateBus(.usual)
    let peer = try bus.makePeer()
    var center: DarwinNotificationCenter? = try bus.makeCenter()
    let census = Census()
    try center?.bind(
      Listener("a", on: .thread) { [canary = census.makeCanary()] _ in canary.sing() }, to: name)
    #expect(peer.countConnections() == 1)
    center = nil
    await eventually("the connection is still there") { peer.countConnections() == 0 }
    await eventually("the closure was not released") { census.deaths == 1 }
  }

  @Test func itMayEndWithAHandlerOnItsOwnThread() async throws {
    let bus = try PrivateBus(.usual)
    let peer = try bus.makePeer()
    try bindListenerThatKeepsItsCenter(on: bus)
    peer.post(name)
    await eventually("the center did not close") { peer.countConnections() == 0 }
  }

  /// The handler has the only reference to the center, and releases it when called.
  private func bindListenerThatKeepsItsCenter(on bus: PrivateBus) throws {
    let center = try bus.makeCenter()
    let listener = Listener<NotificationEvent>("last", on: .inline) {
      center.unbind("last", from: $0.name)
    }
    try center.bind(listener, to: name)
  }

  @Test func theStatesOfTheBusBeginWithTheCurrentOne() async throws {
    let bus = try PrivateBus(.usual)
    let center = try bus.makeCenter()
    await eventually("there is no bus") { center.isOnBus }
    let states = try center.busStates()
    var iterator = states.makeAsyncIterator()
    #expect(await iterator.next() == true)
    for _ in 1...2 {
      bus.kill()
      #expect(await iterator.next() == false && !center.isOnBus)
      bus.startAgain()
      #expect(await iterator.next() == true && center.isOnBus)
    }
    var later = states.makeAsyncIterator()
    #expect(await later.next() == true)
  }
}
