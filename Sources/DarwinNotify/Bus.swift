// Chooses a bus.

extension DarwinNotificationCenter {
  /// The bus that a center opened with ``init(bus:)`` uses.
  ///
  /// The corresponding C parameter is `bus` of `dn_center_open`.
  public enum Bus: Hashable, Sendable {
    /// The bus of the user's session.
    case session

    /// The bus of the machine.
    case system

    /// No bus: posts reach, by shared memory, those processes of the user that also chose none.
    case none

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
    case .none: "none"
    case .address(let address): address
    }
  }
}
