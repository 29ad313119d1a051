// Counts what a center does.

internal import CDarwinNotify

extension DarwinNotificationCenter {
  /// Counters of a center, of this process. The corresponding C values are the `DN_STATISTIC_`
  /// constants.
  public struct Statistics: Hashable, Sendable {
    /// Registrations, now.
    public let observers: UInt64

    /// Distinct names with an observer, now. A name counts for one second after its last observer.
    public let names: UInt64

    /// Names whose posts wait for the bus, now; in a flood, posts by themselves.
    public let waitingNames: UInt64

    /// Posts handed to the bus.
    public let signalsSent: UInt64

    /// Posts received from the bus, including those of this process.
    public let signalsReceived: UInt64

    /// Messages received that are not a post, are malformed, or come from someone who may not post
    /// the name.
    public let signalsIgnored: UInt64

    /// How often a bus was found.
    public let connections: UInt64

    /// Whether the process shares a table with the other processes of the user.
    public let sharesTable: Bool

    /// Names in use that no table counts, now: their posts go over the bus alone, and are lost
    /// where it drops them. The library keeps trying to change that.
    public let uncountedNames: UInt64

    /// The random number of the table, 0 without one. Its counts continue only while this stays the
    /// same.
    public let tableID: UInt64
  }

  /// Reads the counters, one after another.
  ///
  /// - Throws: ``DarwinNotifyError/outOfMemory``.
  ///
  /// The corresponding C function is `dn_center_get_statistic`.
  public func statistics() throws -> Statistics {
    Statistics(
      observers: try count(DN_STATISTIC_OBSERVERS),
      names: try count(DN_STATISTIC_NAMES),
      waitingNames: try count(DN_STATISTIC_NAMES_WAITING),
      signalsSent: try count(DN_STATISTIC_SIGNALS_SENT),
      signalsReceived: try count(DN_STATISTIC_SIGNALS_RECEIVED),
      signalsIgnored: try count(DN_STATISTIC_SIGNALS_IGNORED),
      connections: try count(DN_STATISTIC_CONNECTS),
      sharesTable: try count(DN_STATISTIC_TABLES) > 0,
      uncountedNames: try count(DN_STATISTIC_NAMES_UNCOUNTED),
      tableID: try count(DN_STATISTIC_TABLE_ID))
  }

  private func count(_ statistic: Int) throws(DarwinNotifyError) -> UInt64 {
    var value: UInt64 = 0
    try check(dn_center_get_statistic(center, CInt(statistic), &value))
    return value
  }
}
