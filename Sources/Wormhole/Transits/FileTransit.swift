// Keeps the newest message of each name in a file.

public import Foundation

/// A transit that keeps the newest message of each name in a file of its own.
///
/// A message takes the place of the one before, at once: readers see the old one or the new one,
/// whatever happens to the process that writes. Listeners that are slower than those who pass see
/// the newest message, and how many they missed. The corresponding class of MMWormhole is
/// `MMWormholeFileTransiting`.
public struct FileTransit: MessageTransit {
  private let isDurable: Bool

  /// Makes a transit.
  ///
  /// - Parameter durable: whether a message that was passed survives a loss of power. Passing then
  ///   waits for the disk. A message survives the end of its process, however it ends, in any case.
  public init(durable: Bool = false) {
    isDurable = durable
  }

  /// Says `file`, and whether it is durable.
  public var identifier: String { isDurable ? "file, durable" : "file" }

  /// Opens the files of a name.
  public func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Mailbox {
    FileMailbox(name, in: directory.path, durable: isDurable, coordinated: false)
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
  /// - Parameter durable: whether a message that was passed survives a loss of power.
  /// - Returns: the transit.
  public static func file(durable: Bool) -> Self { FileTransit(durable: durable) }
}
