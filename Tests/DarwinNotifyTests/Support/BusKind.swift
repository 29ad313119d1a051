// Lists the message buses that the tests run on.
import Glibc
import Testing

/// An implementation of the message bus.
enum BusKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case daemon
  case broker

  var testDescription: String { rawValue }

  var program: String {
    switch self {
    case .daemon: "/usr/bin/dbus-daemon"
    case .broker: "/usr/bin/dbus-broker"
    }
  }

  var isInstalled: Bool { access(program, X_OK) == 0 }

  /// The kinds that tests are repeated for; `BusKindTests` reports what is missing.
  static let installed = allCases.filter(\.isInstalled)
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
