// Lists the message buses that the tests run on, and the lack of one.
import Glibc
import Testing

/// An implementation of the message bus, or none.
enum BusKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case daemon
  case broker
  /// An address where nobody listens: posts travel through shared memory alone.
  case none

  var testDescription: String { rawValue }

  private var program: String? {
    switch self {
    case .daemon: "/usr/bin/dbus-daemon"
    case .broker: "/usr/bin/dbus-broker"
    case .none: nil
    }
  }

  var isInstalled: Bool { program.map { access($0, X_OK) == 0 } ?? false }

  /// The kinds that tests are repeated for that need a bus; `BusKindTests` reports what is missing.
  static let installed = allCases.filter(\.isInstalled)

  /// The kinds that tests of delivery are repeated for.
  static let grounds = installed + [.none]
}

@Suite struct BusKindTests {
  @Test(.enabled(if: BusKind.daemon.isInstalled, "dbus-daemon is not installed"))
  func theTestsRunOnTheDaemon() {
    #expect(BusKind.installed.contains(.daemon))
  }

  @Test(.enabled(if: BusKind.broker.isInstalled, "dbus-broker is not installed"))
  func theTestsRunOnTheBroker() {
    #expect(BusKind.installed.contains(.broker))
  }
}
