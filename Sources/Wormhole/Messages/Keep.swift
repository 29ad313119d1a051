// Specifies how many messages of a name are kept.

extension Wormhole {
  /// How many messages of a name are kept.
  ///
  /// Readers find them, however late they start. Of several programs that pass messages to one
  /// name, the one that keeps the most decides; only ``Wormhole/setKeep(_:of:)`` lowers the number.
  public enum Keep: Hashable, Sendable {
    /// The newest message.
    case newest

    /// A number of messages, 1 or more. A few more may be kept than that.
    case last(Int)
  }

  /// A reader's position, which survives the reader: see ``Start/cursor(_:)``.
  public struct Cursor: Hashable, Sendable {
    /// The name of the cursor.
    public let name: String

    /// The number of the last message that was handled, or 0.
    public let sequence: UInt64

    /// The number of kept records after it, including pings and clearings.
    public let lag: Int
  }
}

extension Wormhole.Keep {
  /// The number of messages.
  var count: Int {
    switch self {
    case .newest: 1
    case .last(let count): max(1, count)
    }
  }
}
