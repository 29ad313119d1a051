// Starts a message bus for one test.
import DarwinNotify
import Glibc
import TestSupport
import Testing

/// A message bus that nobody else uses. It ends with the value.
final class PrivateBus: @unchecked Sendable {
  // One test uses the value, one call after the other.
  private let bus: OpaquePointer

  /// The library keeps its shared memory in a private directory, before it is used at all.
  private static let environment: Void = {
    guard let directory = test_directory() else { fatalError("no private directory") }
    setenv("XDG_RUNTIME_DIR", directory, 1)
  }()

  init(_ kind: BusKind) throws {
    Self.environment
    bus = try #require(test_bus_start(kind.rawValue, nil))
  }

  deinit {
    test_bus_stop(bus)
  }

  var address: String { String(cString: test_bus_address(bus)) }

  /// A center with a connection of its own, as another program would have.
  func makeCenter() throws -> DarwinNotificationCenter {
    try DarwinNotificationCenter(bus: .address(address))
  }

  /// A program that speaks D-Bus without the library.
  func makePeer() throws -> Peer {
    try Peer(address)
  }

  func kill() {
    test_bus_kill(bus)
  }

  func startAgain() {
    test_bus_start_again(bus)
  }
}
