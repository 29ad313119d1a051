// Describes the ways that messages can take.

public import Foundation

/// Where the messages of a wormhole are kept on their way.
///
/// All processes that use a name have to use the same transit for it. The corresponding protocol of
/// MMWormhole is `MMWormholeTransiting`.
public protocol MessageTransit: Sendable {
  /// Tells transits of one kind with different settings apart.
  var identifier: String { get }

  /// Opens what is kept of a name. It need not exist yet.
  ///
  /// - Parameters:
  ///   - name: the name of the messages: any text but an empty one.
  ///   - directory: the directory of the wormhole, mode 0700. Somebody may remove it; who puts
  ///     something in makes it again.
  /// - Returns: the mailbox.
  /// - Throws: ``WormholeError`` if the name cannot be used. Nothing is read or written yet.
  func openMailbox(for name: String, in directory: URL) throws(WormholeError) -> any Mailbox

  /// Returns the names of which messages are kept.
  ///
  /// - Parameter directory: the directory of the wormhole.
  /// - Returns: the names, in no order. Files that are no messages of the transit do not count.
  /// - Throws: ``WormholeError`` if the directory cannot be read.
  func names(in directory: URL) throws(WormholeError) -> [String]
}
