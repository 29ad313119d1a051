// Lists the message buses that the tests run on, and the lack of one.

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

  /// The bus for tests that need one. The tests of the C library, which alone speaks to it, run on
  /// both.
  static let installed = Array([daemon, broker].filter(\.isInstalled).prefix(1))

  /// The same, for tests that are not repeated.
  static var usual: Self { installed.first ?? .daemon }

  /// The kinds that tests of delivery are repeated for.
  static let grounds = installed + [.none]
}

@Suite struct BusKindTests {
  @Test func thereIsABus() {
    #expect(!BusKind.installed.isEmpty, "neither dbus-daemon nor dbus-broker is installed")
  }
}
