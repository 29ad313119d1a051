// Passes messages between the processes of a group.

internal import DarwinNotify
internal import DarwinNotifySupport
public import FoundationEssentials
internal import Glibc

/// A store of typed messages in the directory of a group, with a change notification for each name.
///
/// A message is stored before it is announced, so a program that starts later still finds it. The
/// bus carries only the change notification: the name of the message, never its value.
///
///     let hole = try Wormhole(group: AppGroup("org.example.lights"))
///     try hole.bind(Listener("label") { message in show(message.value) }, to: .lightState)
///     try hole.pass(true, to: .lightState)
///
/// All calls may be made on any thread. They read and write files on that thread, and wait for at
/// most ten seconds for another process that is writing the same name. In a task,
/// ``pass(_:to:timeout:)`` and the like do so on other threads, and end when the task is cancelled.
/// The corresponding class of MMWormhole is `MMWormhole`.
public final class Wormhole: Sendable {
  /// The group that the messages belong to.
  public let group: AppGroup

  /// The transit for names that have none of their own.
  public let transit: any MessageTransit

  let home: PrivateDirectory
  let listeners = ListenerTable<ExactString, MessageObservation>()

  private let directoryName: String
  private let channels = Locked<[ChannelKey: Channel]>([:])

  /// Opens a wormhole. Its directory is made if it is missing.
  ///
  /// Any number of wormholes may be open on one directory, in one process too. The named listeners
  /// of a wormhole end with it.
  ///
  /// - Parameters:
  ///   - group: the group that the messages belong to.
  ///   - directory: the name of a directory in that of the group: any nonempty text. Characters
  ///     that a file name cannot contain are escaped.
  ///   - transit: the transit for names that have none of their own.
  /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/notPrivate``,
  ///   ``WormholeError/system``.
  public init(
    group: AppGroup, directory: String = "wormhole", transit: any MessageTransit = .file
  ) throws(WormholeError) {
    guard !directory.isEmpty else { throw .invalidIdentifier }
    self.group = group
    self.transit = transit
    directoryName = directory
    home = try PrivateDirectory("\(group.container.path)/\(FileName(for: directory).text)")
  }

  /// The directory of the messages, mode 0700.
  public var directory: URL { URL(fileURLWithPath: home.path, isDirectory: true) }

  // MARK: - Passing

  /// Stores a value, then notifies all listeners.
  ///
  /// Without a bus it does the same; the listeners of the user's processes are still notified.
  ///
  /// - Parameters:
  ///   - value: the value. Its encoded form has at most ``MessageLimits/payloadBytes`` bytes.
  ///   - name: the name to pass it to.
  /// - Returns: the number of the message among all of its name.
  /// - Throws: ``WormholeError``. Except with ``WormholeError/notification``, nothing was
  ///   stored.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:`.
  @discardableResult public func pass<Value>(
    _ value: Value, to name: MessageName<Value>
  ) throws(WormholeError) -> UInt64 {
    try channel(name).send(.value(try name.encode(value)))
  }

  /// Notifies all listeners of a name without a value. What is stored stays.
  ///
  /// - Parameter name: the name.
  /// - Returns: the number of the ping among all messages of the name.
  /// - Throws: ``WormholeError``.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:` with `nil`.
  @discardableResult public func ping<Value>(
    _ name: MessageName<Value>
  ) throws(WormholeError) -> UInt64 {
    try channel(name).send(.ping)
  }

  // MARK: - Reading

  /// Returns the stored value.
  ///
  /// - Parameter name: the name that it was passed to.
  /// - Returns: the value, or `nil` if there is none.
  /// - Throws: ``WormholeError``, also if the stored value cannot be read as this type.
  ///
  /// The corresponding method of MMWormhole is `messageWithIdentifier:`.
  public func message<Value>(_ name: MessageName<Value>) throws(WormholeError) -> Value? {
    try name.value(of: try channel(name).mailbox.lastMessage())
  }

  /// Returns the messages that are kept, without pings, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - name: the name that they were passed to.
  ///   - sequence: the number after which to begin.
  /// - Returns: at most one message with a transit of files, up to its limit with a ``LogTransit``.
  ///   All of them are in memory; ``messages(_:from:starting:)`` delivers them one by one.
  /// - Throws: ``WormholeError``. A message that cannot be read is in the list, with its error.
  public func history<Value>(
    _ name: MessageName<Value>, since sequence: UInt64 = 0
  ) throws(WormholeError) -> [Message<Value>] {
    try name.history(in: try channel(name).mailbox, since: sequence)
  }

  // MARK: - Cursors

  /// Returns the cursors of a name, with how far they are behind.
  ///
  /// - Parameter name: the name.
  /// - Returns: the cursors, in the order of their names.
  /// - Throws: ``WormholeError/noCursors`` with a transit of files, other
  ///   ``WormholeError``.
  public func cursors<Value>(of name: MessageName<Value>) throws(WormholeError) -> [Cursor] {
    try channel(name).mailbox.cursors()
  }

  /// Removes a cursor. If it does not exist, nothing happens.
  ///
  /// - Parameters:
  ///   - cursor: the name of the cursor.
  ///   - name: the name that it belongs to.
  /// - Throws: ``WormholeError/cursorInUse``, ``WormholeError/noCursors``, other
  ///   ``WormholeError``.
  public func removeCursor<Value>(
    _ cursor: String, of name: MessageName<Value>
  ) throws(WormholeError) {
    try channel(name).mailbox.removeCursor(cursor)
  }

  // MARK: - Clearing

  /// Removes what is stored under a name, then notifies all listeners.
  ///
  /// - Parameter name: the name.
  /// - Throws: ``WormholeError``.
  ///
  /// The corresponding method of MMWormhole is `clearMessageContentsForIdentifier:`, which
  /// notifies nobody.
  public func clear<Value>(_ name: MessageName<Value>) throws(WormholeError) {
    _ = try channel(name).send(.cleared)
  }

  /// Removes what is stored under all names, then notifies all listeners.
  ///
  /// Only messages are removed: those of this library's transits and of the wormhole's own. Other
  /// files in the directory stay.
  ///
  /// - Throws: ``WormholeError/notCleared`` with the messages that could not be cleared, say
  ///   because their files are damaged, which ``remove(_:)`` repairs; all others are. Other
  ///   ``WormholeError`` if the directory cannot be read.
  ///
  /// The corresponding method of MMWormhole is `clearAllMessageContents`.
  public func clearAll() throws(WormholeError) {
    var failures: [String: WormholeError] = [:]
    for (name, transit) in try storedNames() {
      do throws(WormholeError) {
        _ = try channel(name, transit).send(.cleared)
      } catch {
        failures[name] = error
      }
    }
    guard failures.isEmpty else { throw .notCleared(failures) }
  }

  private func storedNames() throws(WormholeError) -> [(String, any MessageTransit)] {
    // Neither durability nor limits matter for the names of a transit.
    var transits: [any MessageTransit] = [transit]
    if !(transit is FileTransit) { transits.append(.file) }
    if !(transit is LogTransit) { transits.append(.log) }
    var names: [(String, any MessageTransit)] = []
    for transit in transits {
      names += try transit.names(in: directory).map { ($0, transit) }
    }
    return names
  }

  // MARK: - Channels

  /// Returns the channel of a name.
  func channel<Value>(_ name: MessageName<Value>) throws(WormholeError) -> Channel {
    try channel(name.rawValue, name.transit ?? transit)
  }

  /// Returns the key of the listeners of a name.
  package func key<Value>(of name: MessageName<Value>) -> ExactString {
    ExactString(name.rawValue)
  }

  /// Drops what is open for a name.
  func forget(_ name: String) {
    let dropped = channels.withLock { channels in
      let keys = channels.keys.filter { $0.name == ExactString(name) }
      return keys.map { channels.removeValue(forKey: $0) }
    }
    // Files are not closed under a lock.
    withExtendedLifetime(dropped) {}
  }

  private func channel(
    _ name: String, _ transit: any MessageTransit
  ) throws(WormholeError) -> Channel {
    guard !name.isEmpty else { throw .invalidIdentifier }
    let key = ChannelKey(name, transit)
    if let channel = channels.withLock({ $0[key] }) { return channel }
    let new = Channel(
      name, mailbox: try transit.openMailbox(for: name, in: directory),
      changeName: group.changeName(directoryName, name), center: group.center)
    return channels.withLock { channels in
      if let channel = channels[key] { return channel }
      channels[key] = new
      return new
    }
  }
}

extension Wormhole {
  /// Removes a name with all its files, of every transit, damaged or not.
  ///
  /// The next message gets the number 1 again, and may use another transit. Cursors are removed,
  /// too. Listeners stay; they get what is passed later. A message that another process passes
  /// meanwhile may be lost.
  ///
  /// - Parameter name: the name.
  /// - Throws: ``WormholeError/system``, ``WormholeError/notification`` if
  ///   everything is removed but listeners could not be notified;
  ///   ``WormholeError/invalidIdentifier``.
  public func remove<Value>(_ name: MessageName<Value>) throws(WormholeError) {
    let channel = try channel(name)
    forget(name.rawValue)
    let base = FileName(for: name.rawValue).text
    let cursors = cursorFiles(base) + listedCursorFiles(channel, name.rawValue)
    let suffixes = [
      FileSuffix.message, "\(FileSuffix.message).new", FileSuffix.mailbox, FileSuffix.log,
      "\(FileSuffix.log)-wal", "\(FileSuffix.log)-shm",
    ]
    for file in suffixes.map({ base + $0 }) + cursors {
      let path = "\(home.path)/\(file)"
      guard unlink(path) == 0 || errno == ENOENT else { throw .system(code: errno, path: path) }
    }
    try channel.center.notify(channel.changeName)
  }

  /// Returns the lock files of the cursors of a name. Those of long names are not found.
  private func cursorFiles(_ base: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: home.path)) ?? []
    return files.filter { $0.hasPrefix("\(base)%00") && $0.hasSuffix(FileSuffix.cursor) }
  }

  /// Returns the lock files of the cursors that the log of a name knows, unless it is damaged.
  private func listedCursorFiles(_ channel: Channel, _ name: String) -> [String] {
    ((try? channel.mailbox.cursors()) ?? []).map { LogCursor.fileName($0.name, of: name) }
  }
}
