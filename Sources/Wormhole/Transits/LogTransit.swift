// Keeps many messages of each name in a log.

public import Foundation

/// A transit that keeps the last messages of each name in a log, a database of SQLite.
///
/// Listeners get every message, however slow they are, as long as it is kept; so do those who were
/// not running. The log can be read again from any number on, a value be changed while all others
/// are kept out, and readers have cursors that stay when they end. A process that was forked from
/// one that has used any log, defaults or database cannot use it before it calls `exec`.
public struct LogTransit: MessageTransit {
  private let limits: LogLimits
  private let isDurable: Bool

  /// Says `log`, with its limits.
  public let identifier: String

  /// Makes a transit.
  ///
  /// - Parameters:
  ///   - count: how many letters to keep, 1 or more; a sixteenth more may be there for a while. The
  ///     newest message is kept in any case.
  ///   - age: how long to keep letters; `nil` for ever. Older ones are taken away when later ones
  ///     are put in, not by themselves; a second later perhaps.
  ///   - durable: whether a message that was passed survives a loss of power. Passing then waits
  ///     for the disk. A message survives the end of its process, however it ends, in any case.
  public init(count: Int = 100_000, age: Duration? = nil, durable: Bool = false) {
    limits = LogLimits(count: count, age: age)
    isDurable = durable
    identifier = "log, \(limits)\(durable ? ", durable" : "")"
  }

  /// Opens the log of a name. Its file is made when something is put in.
  public func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Mailbox {
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
  ///   - count: how many letters to keep.
  ///   - age: how long to keep letters; `nil` for ever.
  ///   - durable: whether a message that was passed survives a loss of power.
  /// - Returns: the transit.
  public static func log(
    count: Int = 100_000, age: Duration? = nil, durable: Bool = false
  ) -> Self {
    LogTransit(count: count, age: age, durable: durable)
  }
}
