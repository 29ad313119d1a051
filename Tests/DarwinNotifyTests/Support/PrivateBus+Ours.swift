// Lets a test process use a bus as its own.
import Glibc
import TestSupport

extension BusKind: Codable {}

extension PrivateBus {
  /// Starts a bus for the tokens of this process, which must not have used the library yet; an exit
  /// test provides such a process.
  static func forThisProcess(_ kind: BusKind) throws -> PrivateBus {
    let bus = try PrivateBus(kind)
    setenv("DARWIN_NOTIFY_BUS", bus.address, 1)
    return bus
  }
}
