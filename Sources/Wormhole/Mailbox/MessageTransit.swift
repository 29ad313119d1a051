// Describes how messages are stored.

public import FoundationEssentials

/// How the messages of a name are stored.
///
/// All processes that use a name must use the same transit for it. The corresponding protocol of
/// MMWormhole is `MMWormholeTransiting`.
public protocol MessageTransit: Sendable {
  /// Distinguishes transits of one kind with different settings.
  var identifier: String { get }

  /// Opens the mailbox of a name, which need not exist yet.
  ///
  /// - Parameters:
  ///   - name: the name of the messages, never empty.
  ///   - directory: the directory of the wormhole, mode 0700. Somebody may remove it; whoever
  ///     appends a record creates it again.
  /// - Returns: the mailbox.
  /// - Throws: ``WormholeError`` if the name cannot be used. Nothing is read or written yet.
  func openMailbox(
    for name: String, in directory: URL
  ) throws(WormholeError) -> any Wormhole.Mailbox

  /// Returns the names with stored messages.
  ///
  /// - Parameter directory: the directory of the wormhole.
  /// - Returns: the names, in no order. Files of other kinds do not count.
  /// - Throws: ``WormholeError`` if the directory cannot be read.
  func names(in directory: URL) throws(WormholeError) -> [String]
}
