// Waits for a bus.
import DarwinNotify
import Glibc

enum BusWait {
  private static let interval: UInt32 = 50_000

  /// Returns when the bus lets this process in. It asks with centers of their own: the library
  /// connects at its first use, and to a bus that is there it does so at once.
  static func run() {
    while !isOver { usleep(interval) }
  }

  /// Whether there is a bus, or an error that shows itself again in the commands.
  static var isOver: Bool {
    let bus = getenv("DARWIN_NOTIFY_BUS").map { String(cString: $0) } ?? ""
    let center = try? DarwinNotificationCenter(bus: bus.isEmpty ? .session : .address(bus))
    return center?.isOnBus ?? true
  }
}
