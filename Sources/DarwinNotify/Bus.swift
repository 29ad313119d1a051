// The bus of a center.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// The bus that a center opened with ``init(bus:)`` uses.
  ///
  /// The corresponding C parameter is `bus` of `dn_center_open`.
  public enum Bus: Hashable, Sendable {
    /// The bus of the user's session.
    case session

    /// The bus of the machine.
    case system

    /// No bus: posts reach, by shared memory, the processes of the user that also chose this.
    case noBus

    /// A bus with a D-Bus address, such as `unix:path=/run/user/1000/bus`.
    case address(String)
  }
}

extension DarwinNotificationCenter.Bus {
  /// The name or address that C expects.
  var specification: String {
    switch self {
    case .session: "session"
    case .system: "system"
    case .noBus: "none"
    case .address(let address): address
    }
  }
}

extension DarwinNotificationCenter {
  /// Returns a sequence of the states of the center's bus: first the current state, then
  /// each change.
  ///
  ///     for await isOnBus in try center.busStates() {
  ///       statusLine.text = isOnBus ? "connected" : "no bus"
  ///     }
  ///
  /// No change is left out, so the values alternate. Only if more than 16 are waiting to be taken
  /// are they merged into the last one. Without a bus the user's programs that use this library
  /// still hear each other; posts of other programs on the bus are missed.
  ///
  /// - Returns: the sequence, which ends with the task that iterates over it.
  /// - Throws: ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_observe_bus`.
  public func busStates() throws -> QueuedNotifications<Bool> {
    try QueuedNotifications { delivery, handler in
      try dn_bus_handler.observe(self.center, on: delivery, handler)
    }
  }
}

extension DarwinNotificationCenter {
  /// Opens a center that reaches nobody else, for tests: it has no bus, and shares its memory
  /// with no other center, not even with one of this process.
  ///
  /// - Returns: the center. Its posts reach its own handlers.
  /// - Throws: ``DarwinNotifyError/outOfMemory``.
  public static func isolated() throws -> DarwinNotificationCenter {
    try DarwinNotificationCenter(bus: .isolated())
  }
}

extension DarwinNotificationCenter.Bus {
  /// An address for a bus where nobody listens, and that nobody else uses.
  package static func isolated() -> Self {
    let (high, low) = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
    return .address("\(isolatedPrefix)\(high)-\(low)")
  }

  /// Whether ``isolated()`` made it.
  var isIsolated: Bool {
    if case .address(let address) = self { address.hasPrefix(Self.isolatedPrefix) } else { false }
  }

  private static let isolatedPrefix = "unix:abstract=/darwinnotify-isolated/"
}
