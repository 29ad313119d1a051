// Specifies the center.
import DarwinNotify
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DarwinNotificationCenterTests {
  private let name: NotificationName = "com.example.changed"

  @Test func theSharedOneIsAlwaysTheSame() {
    #expect(DarwinNotificationCenter.shared === DarwinNotificationCenter.shared)
  }

  @Test(arguments: BusKind.grounds)
  func aPostReachesAnotherConnection(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (listening, posting) = (try bus.makeCenter(), try bus.makeCenter())
    let seen = Recorder()
    let observation = try listening.observe(name, on: .thread) { seen.record($0) }
    try posting.post(name)
    await eventually { seen.posts == 1 }
    try await drain(listening, behind: posting, on: .thread)
    #expect(seen.posts == 1)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.installed)
  func aPostReachesItsOwnCenterOnce(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let (center, peer) = (try bus.makeCenter(), try bus.makePeer())
    let seen = Recorder()
    let observation = try center.observe(name, on: .thread) { seen.record($0) }
    for _ in 1...5 {
      try center.post(name)
      #expect(peer.nextPostedName() == name)
    }
    try await drain(center, behind: peer, on: .thread)
    #expect(seen.posts == 5)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.installed)
  func otherProgramsHearItsPosts(on kind: BusKind) throws {
    let bus = try PrivateBus(kind)
    let peer = try bus.makePeer()
    try bus.makeCenter().post(name)
    #expect(peer.nextPostedName() == name)
  }

  @Test(arguments: BusKind.grounds)
  func itHearsThePostsOfOtherPrograms(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let seen = Recorder()
    let observation = try center.observe(name, on: .thread) { seen.record($0) }
    try bus.makePoster().post(name)
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.installed)
  func handlersHealWhenTheBusIsRestarted(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    let seen = Recorder()
    let observation = try center.observe(name, on: .thread) { seen.record($0) }
    try bus.makePeer().post(name)
    await eventually { seen.posts == 1 }
    bus.kill()
    bus.startAgain()
    let peer = try bus.makePeer()
    await eventually("no post after the restart arrived") {
      peer.post("com.example.changed")
      return seen.posts > 1
    }
    withExtendedLifetime(observation) {}
  }

  @Test func worksWithoutABus() async throws {
    let bus = DarwinNotificationCenter.Bus.address("unix:path=/nonexistent/bus")
    let center = try DarwinNotificationCenter(bus: bus)
    let other = try DarwinNotificationCenter(bus: bus)
    let seen = Recorder()
    let observation = try center.observe(name, on: .thread) { seen.record($0) }
    try center.post(name)
    await eventually { seen.posts == 1 }
    try other.post(name)
    await eventually { seen.posts == 2 }
    #expect(!center.isOnBus)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.installed)
  func saysWhetherThereIsABus(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    #expect(center.isOnBus)
    bus.kill()
    await eventually { !center.isOnBus }
    bus.startAgain()
    await eventually { center.isOnBus }
  }

  @Test(arguments: ["", "unix:path=/tmp/a\0b"])
  func anInvalidAddressIsRefused(address: String) {
    #expect(throws: DarwinNotifyError.invalidArgument) {
      _ = try DarwinNotificationCenter(bus: .address(address))
    }
  }

  @Test(arguments: BusKind.installed)
  func flushingWaitsUntilThePostsAreSent(on kind: BusKind) throws {
    let bus = try PrivateBus(kind)
    let peer = try bus.makePeer()
    let center = try bus.makeCenter()
    try center.post(name)
    // Other tests may have posts that wait for a bus that is gone: flushing covers all of them.
    do {
      try center.flush(timeout: .seconds(10))
    } catch {
      #expect(error == .timedOut || error == .notConnected)
    }
    #expect(peer.nextPostedName() == name)
  }

  @Test(arguments: BusKind.installed)
  func itsConnectionEndsWithIt(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let peer = try bus.makePeer()
    var center: DarwinNotificationCenter? = try bus.makeCenter()
    try center?.bind(Listener("a", on: .thread) { _ in }, to: name)
    #expect(peer.countConnections() == 1)
    center = nil
    await eventually("the connection is still there") { peer.countConnections() == 0 }
  }

  @Test(arguments: BusKind.grounds)
  func anObservationKeepsItsConnection(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let seen = Recorder()
    let observation = try bus.makeCenter().observe(name, on: .thread) { seen.record($0) }
    try bus.makePoster().post(name)
    await eventually { seen.posts == 1 }
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: BusKind.installed)
  func itMayEndWithAHandlerOnItsOwnThread(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let peer = try bus.makePeer()
    try bindListenerThatKeepsItsCenter(on: bus)
    peer.post(name)
    await eventually("the center did not close") { peer.countConnections() == 0 }
  }

  /// The handler has the only reference to the center, and releases it when called.
  private func bindListenerThatKeepsItsCenter(on bus: PrivateBus) throws {
    let center = try bus.makeCenter()
    let listener = Listener<NotificationEvent>("last", on: .direct) {
      center.unbind("last", from: $0.name)
    }
    try center.bind(listener, to: name)
  }
}
