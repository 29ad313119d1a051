// Waits for a bus.
import DarwinNotify
import Glibc

enum BusWait {
  private static let interval: UInt32 = 50_000

  /// Returns once a bus accepts this process. It asks with separate centers: the library connects
  /// only at its first use, and then immediately if the bus is there.
  static func run() {
    while !isOver { usleep(interval) }
  }

  /// Whether there is a bus, or an error that will show up again in the commands.
  static var isOver: Bool {
    let bus = getenv("DARWIN_NOTIFY_BUS").map { String(cString: $0) } ?? ""
    let center = try? DarwinNotificationCenter(bus: bus.isEmpty ? .session : .address(bus))
    return center?.isOnBus ?? true
  }
}
