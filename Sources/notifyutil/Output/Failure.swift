// Tells what went wrong.
import DarwinNotify
import Synchronization

enum Failure {
  private static let isBusReported = Atomic<Bool>(false)

  /// Says that a command on a key failed, as Apple's tool does.
  static func report(_ key: NotificationName, _ error: NotifyError) {
    Output.print("\(key): \(words(for: error))")
    if error == .serverNotFound { reportMissingBus() }
  }

  /// What Apple's tool says for an error.
  static func words(for error: NotifyError) -> String {
    "Failed with code \(error.rawValue)"
  }

  /// Says that a command of this tool's own failed.
  static func report(_ option: String, _ error: DarwinNotifyError) {
    switch error {
    case .notConnected: reportMissingBus()
    case .notAuthorized:
      Output.complain("notifyutil: \(option): there is no table of names that may be read")
    default: Output.complain("notifyutil: \(option): \(error)")
    }
  }

  /// Says, once, how to get a bus.
  private static func reportMissingBus() {
    guard !isBusReported.exchange(true, ordering: .relaxed) else { return }
    Output.complain(
      """
      notifyutil: no D-Bus message bus can be reached
      notifyutil: run it under dbus-run-session, set DBUS_SESSION_BUS_ADDRESS, or say --bus ADDRESS
      """)
  }
}
