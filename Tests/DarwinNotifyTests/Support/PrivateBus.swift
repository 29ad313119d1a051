// Starts a message bus for one test.
import TestSupport

/// A message bus that nobody else uses. It ends with this object.
final class PrivateBus: @unchecked Sendable {
  // One test uses it, one call at a time.
  private let bus: OpaquePointer
  private let kind: BusKind

  init(_ kind: BusKind = .usual) throws {
    let started = kind == .none ? test_bus_prepare(nil) : test_bus_start(kind.rawValue, nil)
    bus = try #require(started)
    self.kind = kind
  }

  deinit {
    test_bus_stop(bus)
  }

  var address: String { String(cString: test_bus_address(bus)) }

  /// A center with its own connection, as another program would have.
  ///
  /// A bus that is slow to answer is waited for: the library would go on without it.
  func makeCenter() throws -> DarwinNotificationCenter {
    let center = try DarwinNotificationCenter(bus: .address(address))
    let deadline = ContinuousClock.now + .seconds(60)
    while kind != .none, !center.isOnBus {
      try #require(.now < deadline, "there is no bus")
      usleep(1_000)
    }
    return center
  }

  /// A program that speaks D-Bus without the library.
  func makePeer() throws -> Peer {
    try Peer(address)
  }

  func kill() {
    test_bus_kill(bus)
  }

  /// Stops its process: it accepts connections, and says nothing.
  func pause() {
    test_bus_pause(bus)
  }

  func resume() {
    test_bus_resume(bus)
  }

  /// Where its socket is, which is private.
  var directory: String { String(cString: test_bus_directory(bus)) }

  func startAgain() {
    test_bus_start_again(bus)
  }
}

extension BusKind: Codable {}

extension PrivateBus {
  private static let own = Locked<PrivateBus?>(nil)

  /// Starts a bus for the tokens of this process, which must not have used the library yet; an exit
  /// test provides such a process. The bus ends with the process.
  @discardableResult
  static func forThisProcess(_ kind: BusKind = .usual) throws -> PrivateBus {
    let bus = try PrivateBus(kind)
    own.withLock { $0 = bus }
    setenv("DARWIN_NOTIFY_BUS", bus.address, 1)
    return bus
  }
}
