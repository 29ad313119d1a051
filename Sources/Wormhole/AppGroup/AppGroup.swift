// Gives the processes of a group a place of their own.

public import DarwinNotify
public import Foundation

/// A directory that several programs of a user share, and the center on which they hear each other.
///
/// On Apple's systems membership is an entitlement. Here it is the user: every process of the user
/// that names the group takes part in it. The corresponding Apple function is
/// `containerURL(forSecurityApplicationGroupIdentifier:)`.
public final class AppGroup: Sendable {
  /// The identifier of the group, customarily in reverse domain order.
  public let identifier: String

  /// The center that tells the other processes what has changed.
  public let center: DarwinNotificationCenter

  let container: PrivateDirectory

  /// The settings of the group, once they were asked for.
  let openDefaults = Locked<SharedDefaults?>(nil)

  /// Opens a group. Its directory is made if it is missing.
  ///
  /// - Parameters:
  ///   - identifier: any text but an empty one. What cannot stand in a file name is escaped, so
  ///     that no identifier leads out of the directory of groups, and no two share a directory.
  ///   - parent: the directory of groups, an absolute path. By default `$XDG_DATA_HOME`, or
  ///     `~/.local/share` where that is not set.
  ///   - center: the center to ring on. All processes of a group have to use the same bus.
  /// - Throws: ``WormholeError/invalidIdentifier``; ``WormholeError/notPrivate(path:)`` if the
  ///   directory is a symbolic link, belongs to another user or can be written by others;
  ///   ``WormholeError/system(code:path:)``.
  public init(
    _ identifier: String, in parent: URL? = nil, center: DarwinNotificationCenter = .shared
  ) throws(WormholeError) {
    guard !identifier.isEmpty else { throw .invalidIdentifier }
    self.identifier = identifier
    self.center = center
    let parent = parent?.path ?? UserDirectories.data
    container = try PrivateDirectory("\(parent)/\(FileName(for: identifier).text)")
  }

  /// The directory of the group, mode 0700. What is in it outlives the processes.
  public var directory: URL { URL(fileURLWithPath: container.path, isDirectory: true) }

  /// The directory of the group for sockets and the like, which is gone when the user logs out.
  ///
  /// It is made when it is asked for, mode 0700, in `$XDG_RUNTIME_DIR`; where that is not set, in
  /// `/dev/shm`. The library itself keeps nothing there.
  ///
  /// - Throws: ``WormholeError/notPrivate(path:)``, ``WormholeError/system(code:path:)``.
  public var runtimeDirectory: URL {
    get throws(WormholeError) {
      let parent = try UserDirectories.makeRuntime()
      let directory = try PrivateDirectory("\(parent)/\(FileName(for: identifier).text)")
      return URL(fileURLWithPath: directory.path, isDirectory: true)
    }
  }

  /// The name that tells of a change of something in the group.
  ///
  /// It can be read by those who watch the bus. Two things that share a name do no harm, their
  /// listeners look once too often; so a long name may be cut.
  func bell(_ parts: String...) -> NotificationName {
    let text = (["wormhole", identifier] + parts).joined(separator: ".")
    let isFit = text.utf8.count <= Self.longestBell && !text.utf8.contains(0)
    return NotificationName(isFit ? text : "wormhole.\(FileName(for: text).text)")
  }

  /// What the center takes.
  private static let longestBell = 511
}
