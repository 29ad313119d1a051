// Keeps the newest message of each name in a file.

public import FoundationEssentials

/// A transit that stores the newest message of each name in a separate file.
///
/// A message replaces the previous one in one step: readers see the old one or the new one,
/// whatever happens to the writing process. Listeners that are slower than the senders see the
/// newest message, and how many they missed.
///
/// A coordinated transit also supports `update(_:_:)`, which reads a message and passes
/// a new one while everybody else waits. The corresponding classes of MMWormhole are
/// `MMWormholeFileTransiting` and `MMWormholeCoordinatedFileTransiting`, which uses
/// `NSFileCoordinator`.
public struct FileTransit: MessageTransit {
  private let isDurable: Bool
  private let isCoordinated: Bool

  /// Makes a transit.
  ///
  /// - Parameters:
  ///   - durable: whether passed messages survive a power loss. Passing then waits for the disk.
  ///     Without it they survive the end of the process, however it ends.
  ///   - coordinated: whether readers and writers wait for an update, for at most ten seconds.
  public init(durable: Bool = false, coordinated: Bool = false) {
    isDurable = durable
    isCoordinated = coordinated
  }

  /// `file`, with its settings.
  public var identifier: String {
    (isCoordinated ? "coordinated file" : "file") + (isDurable ? ", durable" : "")
  }

  /// Opens the files of a name.
  public func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Wormhole.Mailbox {
    FileMailbox(name, in: directory.path, durable: isDurable, coordinated: isCoordinated)
  }

  /// Returns the names whose files hold a message.
  public func names(in directory: URL) throws(WormholeError) -> [String] {
    try MessageFile.names(in: directory.path)
  }
}

extension MessageTransit where Self == FileTransit {
  /// The newest message of a name, in a file.
  public static var file: Self { FileTransit() }

  /// The newest message of a name, in a file.
  ///
  /// - Parameter durable: whether passed messages survive a power loss.
  /// - Returns: the transit.
  public static func file(durable: Bool) -> Self { FileTransit(durable: durable) }

  /// The newest message of a name, in a file that can be updated.
  public static var coordinatedFile: Self { FileTransit(coordinated: true) }

  /// The newest message of a name, in a file that can be updated.
  ///
  /// - Parameter durable: whether passed messages survive a power loss.
  /// - Returns: the transit.
  public static func coordinatedFile(durable: Bool) -> Self {
    FileTransit(durable: durable, coordinated: true)
  }
}
