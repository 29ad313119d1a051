// Describes a cursor.

extension Wormhole {
  /// A stored place of a reader, see ``Start/cursor(_:)``.
  public struct Cursor: Hashable, Sendable {
    /// The name of the cursor.
    public let name: String

    /// The number of the last message that was handled, 0 for none.
    public let sequence: UInt64

    /// The number of kept records after it, pings and clearings too.
    public let lag: Int

    /// Creates a description of a cursor.
    ///
    /// - Parameters:
    ///   - name: the name of the cursor.
    ///   - sequence: the number of the last message that was handled.
    ///   - lag: the number of kept records after it.
    public init(name: String, sequence: UInt64, lag: Int) {
      self.name = name
      self.sequence = sequence
      self.lag = lag
    }
  }
}
