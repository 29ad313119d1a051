// Waits for a bus.
import DarwinNotify
import Glibc

enum BusWait {
  private static let interval: UInt32 = 50_000

  /// Returns when the bus lets this process in. It asks over connections of its own: the library
  /// connects at its first use, and to a bus that is there it does so at once.
  static func run() {
    // Another error than that there is no bus shows itself again in the commands.
    while case .notConnected? = failureOfLook() { usleep(interval) }
  }

  private static func failureOfLook() -> DarwinNotifyError? {
    do throws(DarwinNotifyError) {
      try look()
      return nil
    } catch {
      return error
    }
  }

  /// Throws if there is no bus.
  static func look() throws(DarwinNotifyError) {
    try DarwinNotificationCenter.watchPosts(ready: { .stop }) { _ in .stop }
  }
}
