// Limits the size of messages.

/// The limits of messages.
public enum MessageLimits {
  /// The largest encoded value: 256 MiB.
  ///
  /// A reader maps or reads a whole message at once. Put larger data into a separate file and pass
  /// its path.
  public static let payloadBytes = 256 << 20
}
