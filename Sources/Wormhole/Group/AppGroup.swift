// Represents a group of programs that share a directory.

public import DarwinNotify
internal import DarwinNotifySupport
public import FoundationEssentials
internal import Glibc

/// A directory that several programs of a user share, and the center on which they notify each
/// other.
///
/// On Apple's systems membership is an entitlement. Here every process of the user that names the
/// group takes part in it. The corresponding Apple function is
/// `containerURL(forSecurityApplicationGroupIdentifier:)`.
public final class AppGroup: Sendable {
  /// The identifier of the group, customarily in reverse domain order.
  public let identifier: String

  /// The center that carries the change notifications of the group.
  public let center: DarwinNotificationCenter

  let container: PrivateDirectory

  /// The directory of a temporary group, which is removed with it.
  private let temporary: TemporaryDirectory?

  /// ``defaults``, once they are used. Their type belongs to another folder.
  let sharedDefaults = Locked<(any Sendable)?>(nil)

  /// The stores, by their names.
  let stores = Locked<[ExactString: MessageStore]>([:])

  /// Opens a group. Its directory is made if it is missing.
  ///
  /// - Parameters:
  ///   - identifier: any nonempty text. Characters that a file name cannot contain are escaped, so
  ///     that no identifier leads out of the directory of groups, and no two share a directory.
  ///   - parent: the directory of groups, an absolute path. By default `$XDG_DATA_HOME`, or
  ///     `~/.local/share` if that is not set.
  ///   - center: the center for change notifications. All processes of a group must use the same
  ///     bus.
  /// - Throws: ``WormholeError/invalidIdentifier``; ``WormholeError/notPrivate`` if the
  ///   directory is a symbolic link, belongs to another user or can be written by others;
  ///   ``WormholeError/system``.
  public convenience init(
    _ identifier: String, in parent: URL? = nil, center: DarwinNotificationCenter = .shared
  ) throws(WormholeError) {
    try self.init(identifier, in: parent?.path ?? UserDirectories.data, center)
  }

  private init(
    _ identifier: String, in parent: String, _ center: DarwinNotificationCenter,
    temporary: TemporaryDirectory? = nil
  ) throws(WormholeError) {
    guard !identifier.isEmpty else { throw .invalidIdentifier }
    self.identifier = identifier
    self.center = center
    self.temporary = temporary
    container = try PrivateDirectory(Self.path(of: identifier, in: parent))
  }

  /// Whether a group has a directory.
  package static func exists(_ identifier: String) -> Bool {
    access(path(of: identifier, in: UserDirectories.data), F_OK) == 0
  }

  /// The directory of a group in that of groups.
  static func path(of identifier: String, in parent: String) -> String {
    "\(parent)/\(FileName(for: identifier).text)"
  }

  /// Opens a group for a test: in a directory of its own, with a center that reaches nobody else.
  ///
  /// - Parameter identifier: any nonempty text.
  /// - Returns: the group. Its directory is removed with it, at the latest when the process exits,
  ///   so keep it as long as you use what it has opened.
  /// - Throws: what ``init(_:in:center:)`` throws.
  public static func temporary(
    _ identifier: String = "org.example.temporary"
  ) throws(WormholeError) -> AppGroup {
    let directory = TemporaryDirectory()
    let center: DarwinNotificationCenter
    do {
      center = try .isolated()
    } catch {  // unreachable: only without memory
      throw .notification(error)
    }
    return try AppGroup(identifier, in: directory.path, center, temporary: directory)
  }

  /// The directory of the group. One that the library makes has mode 0700; the permissions of one
  /// that exists stay. Its contents outlive the processes.
  public var directory: URL { URL(fileURLWithPath: container.path, isDirectory: true) }

  /// Returns the notification name for changes of something in the group.
  ///
  /// Everybody who watches the bus can read it. Two things that share a name only cost their
  /// listeners an unnecessary read, so a long name may be cut.
  package func changeName(_ parts: String...) -> NotificationName {
    NotificationName(postName(([identifier] + parts).joined(separator: "."), Self.maxNameBytes))
  }

  /// Puts the name of the library before a text. If the result would be longer than a limit, or
  /// contain a NUL, the text is cut, and a hash replaces the rest.
  func postName(_ text: String, _ maxBytes: Int) -> String {
    let name = "wormhole.\(text)"
    let isValid = name.utf8.count <= maxBytes && !name.utf8.contains(0)
    return isValid ? name : "wormhole.\(FileName(for: text).text)"
  }

  /// The limit of the center.
  private static let maxNameBytes = 511
}
