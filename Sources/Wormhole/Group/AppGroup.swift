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

  /// The objects that exist once for each group, by their types.
  private let singletons = Locked<[ObjectIdentifier: any Sendable]>([:])

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

  /// The directory of the group for sockets and the like, removed when the user logs out.
  ///
  /// It is made on first use, mode 0700, in `$XDG_RUNTIME_DIR`, or in `/dev/shm` if that is not
  /// set. The library itself keeps nothing there.
  ///
  /// - Throws: ``WormholeError/notPrivate``, ``WormholeError/system``.
  public var runtimeDirectory: URL {
    get throws(WormholeError) {
      let parent = try UserDirectories.makeRuntime()
      let directory = try PrivateDirectory(Self.path(of: identifier, in: parent))
      return URL(fileURLWithPath: directory.path, isDirectory: true)
    }
  }

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

  /// Returns the only object of a type in the group. Of two that are made at the same time, one
  /// stays.
  func singleton<Object: Sendable>(_ make: () -> Object) -> Object {
    let key = ObjectIdentifier(Object.self)
    if let object = singletons.withLock({ $0[key] }) as? Object { return object }
    let new = make()
    return singletons.withLock { singletons in
      if let object = singletons[key] as? Object { return object }
      singletons[key] = new
      return new
    }
  }
}
