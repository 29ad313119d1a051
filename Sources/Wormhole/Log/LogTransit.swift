// Stores many messages of each name in a log.

public import FoundationEssentials

/// A transit that stores the last messages of each name in a log, an SQLite database.
///
/// Listeners get every message that is kept, however slow they are, and even if they were not
/// running when it was passed. A log can be read again from any number, supports
/// `update(_:_:)`, and has cursors. A child forked from a process that has used any log,
/// defaults or database cannot use it before it calls `exec`.
public struct LogTransit: MessageTransit {
  private let limits: LogLimits
  private let isDurable: Bool

  /// `log`, with its limits.
  public let identifier: String

  /// Creates a transit.
  ///
  /// - Parameters:
  ///   - count: the number of records to keep, 1 or more; there may temporarily be a sixteenth
  ///     more. The newest message is always kept.
  ///   - age: the time to keep records; `nil` for no limit. Older ones are removed when later ones
  ///     are appended, up to a second late.
  ///   - bytes: the bytes of the file that records may use, 64 KiB or more; `nil` for no limit.
  ///     There may temporarily be a sixteenth more. The newest message is always kept.
  ///   - durable: whether passed messages survive a power loss. Passing then waits for the disk.
  ///     Without it they survive the end of the process, however it ends.
  public init(
    count: Int = 100_000, age: Duration? = nil, bytes: Int? = nil, durable: Bool = false
  ) {
    limits = LogLimits(count: count, age: age, bytes: bytes)
    isDurable = durable
    identifier = "log, \(limits)\(durable ? ", durable" : "")"
  }

  /// Opens the log of a name. Its file is created with the first record.
  public func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Wormhole.Mailbox {
    guard !name.isEmpty else { throw .invalidIdentifier }
    return LogMailbox(name, in: directory.path, limits: limits, durable: isDurable)
  }

  /// Returns the names whose logs hold a message.
  public func names(in directory: URL) throws(WormholeError) -> [String] {
    LogMailbox.names(in: directory.path)
  }
}

extension MessageTransit where Self == LogTransit {
  /// The last messages of a name, in a log.
  public static var log: Self { LogTransit() }

  /// The last messages of a name, in a log.
  ///
  /// - Parameters:
  ///   - count: the number of records to keep.
  ///   - age: the time to keep records; `nil` for no limit.
  ///   - bytes: the bytes of the file that records may use; `nil` for no limit.
  ///   - durable: whether passed messages survive a power loss.
  /// - Returns: the transit.
  public static func log(
    count: Int = 100_000, age: Duration? = nil, bytes: Int? = nil, durable: Bool = false
  ) -> Self {
    LogTransit(count: count, age: age, bytes: bytes, durable: durable)
  }
}
