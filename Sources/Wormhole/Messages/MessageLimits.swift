// Bounds what a message may take.

/// The limits of messages.
public enum MessageLimits {
  /// How many bytes an encoded value may have: 256 MiB.
  ///
  /// A reader maps or reads all of a message at once. What is larger belongs in a file of its own,
  /// whose path the message tells.
  public static let payloadBytes = 256 << 20
}
