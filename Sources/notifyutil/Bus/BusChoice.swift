// Determines which bus the library uses, for error messages.

import DarwinNotify
import Glibc

/// The bus, chosen in the same way as by the library.
struct BusChoice {
  /// D-Bus addresses, in the order in which they are tried.
  let addresses: [String]
  /// The variable or option that determined them, or the reason why there is none.
  let origin: String
  let advice: String

  private static let sessionAdvice =
    "run it under dbus-run-session, set DBUS_SESSION_BUS_ADDRESS, or use --bus=ADDRESS"

  /// - Parameter option: the value of `--bus`; if `nil`, the environment decides.
  /// - Throws: ``Ending/mistake(_:)`` for a value that names no bus.
  init(_ option: String?) throws(Ending) {
    let origin = option == nil ? "DARWIN_NOTIFY_BUS" : "--bus"
    switch option ?? Self.variable("DARWIN_NOTIFY_BUS") {
    case nil, "session": self = .session()
    case "system":
      let address = Self.variable("DBUS_SYSTEM_BUS_ADDRESS")
      self.init(
        address ?? "unix:path=/run/dbus/system_bus_socket", "the system bus",
        "start the system bus, or use --bus=session")
    case "none": self.init("", "\(origin) is 'none'", "use --bus=session")
    case let address?:
      guard (try? DarwinNotificationCenter(bus: .address(address))) != nil else {
        throw .mistake(
          "\(origin): \(printable(address)) is neither session, system, none nor a D-Bus address")
      }
      self.init(address, origin, "start a bus there, or use --bus=session")
    }
  }

  private init(_ address: String, _ origin: String, _ advice: String) {
    addresses = address.split(separator: ";").map(String.init)
    self.origin = origin
    self.advice = advice
  }

  private static func session() -> Self {
    if let address = variable("DBUS_SESSION_BUS_ADDRESS") {
      return Self(address, "DBUS_SESSION_BUS_ADDRESS", sessionAdvice)
    }
    if let folder = variable("XDG_RUNTIME_DIR") {
      return Self("unix:path=\(folder)/bus", "XDG_RUNTIME_DIR", sessionAdvice)
    }
    let folder = "/run/user/\(geteuid())"
    if isOwnFolder(folder) {
      return Self("unix:path=\(folder)/bus", "XDG_RUNTIME_DIR is not set", sessionAdvice)
    }
    return Self("", "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set", sessionAdvice)
  }

  private static func isOwnFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      && status.st_uid == geteuid()
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Which bus was tried, why it cannot be used, what to do about it: one line each.
  var diagnosis: [String] {
    let tries = addresses.map {
      "tried \(printable($0)) (\(origin)): \(BusAddress($0).reasonOfFailure())"
    }
    return (tries.isEmpty ? [origin] : tries) + [advice]
  }
}

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
