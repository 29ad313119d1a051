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

  private static let systemOrigin = "the system bus"

  /// Whether it is the bus of all users.
  var isSystem: Bool { origin == Self.systemOrigin }

  /// Whether an address was named, instead of found by a directory.
  let isNamed: Bool

  /// - Parameter option: the value of `--bus`; if `nil`, the environment decides.
  /// - Throws: ``Ending/mistake(_:)`` for a value that names no bus.
  init(_ option: String?) throws(Ending) {
    let origin = option == nil ? "DARWIN_NOTIFY_BUS" : "--bus"
    let choice = option ?? Self.variable("DARWIN_NOTIFY_BUS")
    if let choice, !["session", "system", "none"].contains(choice),
      (try? DarwinNotificationCenter(bus: .address(choice))) == nil
    {
      throw .mistake(
        "\(origin): \(printable(choice)) is neither session, system, none nor a D-Bus address")
    }
    self.init(choice, from: origin, user: geteuid(), Self.variable)
  }

  /// The bus that a process of a user chooses with its environment.
  init(environment: [String: String], user: UInt32) {
    let variable = { (name: String) in environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    self.init(variable("DARWIN_NOTIFY_BUS"), from: "DARWIN_NOTIFY_BUS", user: user, variable)
  }

  private init(
    _ choice: String?, from origin: String, user: UInt32, _ variable: (String) -> String?
  ) {
    switch choice {
    case nil, "session": self = .session(user, variable)
    case "system":
      let address = variable("DBUS_SYSTEM_BUS_ADDRESS")
      self.init(
        address ?? "unix:path=/run/dbus/system_bus_socket", Self.systemOrigin,
        "start the system bus, or use --bus=session")
    case "none": self.init("", "\(origin) is 'none'", "use --bus=session")
    case let address?: self.init(address, origin, "start a bus there, or use --bus=session")
    }
  }

  private init(_ address: String, _ origin: String, _ advice: String, isNamed: Bool = true) {
    addresses = address.split(separator: ";").map(String.init)
    self.origin = origin
    self.advice = advice
    self.isNamed = isNamed
  }

  private static func session(_ user: UInt32, _ variable: (String) -> String?) -> Self {
    if let address = variable("DBUS_SESSION_BUS_ADDRESS") {
      return Self(address, "DBUS_SESSION_BUS_ADDRESS", sessionAdvice)
    }
    if let folder = variable("XDG_RUNTIME_DIR") {
      return Self("unix:path=\(folder)/bus", "XDG_RUNTIME_DIR", sessionAdvice, isNamed: false)
    }
    let folder = "/run/user/\(user)"
    if isFolder(folder, of: user) {
      return Self(
        "unix:path=\(folder)/bus", "XDG_RUNTIME_DIR is not set", sessionAdvice, isNamed: false)
    }
    return Self("", "neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set", sessionAdvice)
  }

  private static func isFolder(_ path: String, of user: UInt32) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == user
  }

  static func variable(_ name: String) -> String? {
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
