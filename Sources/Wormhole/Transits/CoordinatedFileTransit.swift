// Keeps the newest message of each name in a file that can be changed without losing updates.

public import Foundation

/// A transit like ``FileTransit``, in which who changes a value keeps all others out meanwhile.
///
/// ``Wormhole/update(_:_:)`` reads a message and passes what follows from it; who passes or reads
/// the name waits until it is done, for at most ten seconds. The corresponding class of MMWormhole
/// is `MMWormholeCoordinatedFileTransiting`, there over `NSFileCoordinator`.
public struct CoordinatedFileTransit: MessageTransit {
  private let isDurable: Bool

  /// Makes a transit.
  ///
  /// - Parameter durable: whether a message that was passed survives a loss of power.
  public init(durable: Bool = false) {
    isDurable = durable
  }

  /// Says `coordinated file`, and whether it is durable.
  public var identifier: String { isDurable ? "coordinated file, durable" : "coordinated file" }

  /// Opens the files of a name.
  public func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Mailbox {
    FileMailbox(name, in: directory.path, durable: isDurable, coordinated: true)
  }

  /// Returns the names whose files hold a message.
  public func names(in directory: URL) throws(WormholeError) -> [String] {
    try MessageFile.names(in: directory.path)
  }
}

extension MessageTransit where Self == CoordinatedFileTransit {
  /// The newest message of a name, in a file that can be changed without losing updates.
  public static var coordinatedFile: Self { CoordinatedFileTransit() }

  /// The newest message of a name, in a file that can be changed without losing updates.
  ///
  /// - Parameter durable: whether a message that was passed survives a loss of power.
  /// - Returns: the transit.
  public static func coordinatedFile(durable: Bool) -> Self {
    CoordinatedFileTransit(durable: durable)
  }
}
