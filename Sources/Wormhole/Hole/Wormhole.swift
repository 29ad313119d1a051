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
///     try await hole.pass(true, to: .lightState)
///
/// All calls may be made on any thread. Functions that read or write messages are asynchronous:
/// they work on threads of the library, wait at most ten seconds for another process that is
/// writing the same name, and end when the task is cancelled. ``blocking`` has the same functions
/// for code that is not asynchronous.
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

  /// Clears all names, for tasks.
  let clearing = WorkQueue(width: 1)

  /// Opens a wormhole. Its directory is made if it is missing.
  ///
  /// Any number of wormholes may be open on one directory, in one process too. The named listeners
  /// of a wormhole end with it.
  ///
  /// - Parameters:
  ///   - group: the group that the messages belong to.
  ///   - directory: the name of a directory in that of the group: any nonempty text. Characters
  ///     that a file name cannot contain are escaped. `defaults` is taken.
  ///   - transit: the transit for names that have none of their own.
  /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/reservedName``,
  ///   ``WormholeError/notPrivate``, ``WormholeError/system``.
  public init(
    group: AppGroup, directory: String = "wormhole", transit: any MessageTransit = .file
  ) throws(WormholeError) {
    guard !directory.isEmpty else { throw .invalidIdentifier }
    guard directory != AppGroup.defaultsStore else { throw .reservedName(directory) }
    self.group = group
    self.transit = transit
    directoryName = directory
    home = try PrivateDirectory("\(group.container.path)/\(FileName(for: directory).text)")
  }

  /// The directory of the messages, mode 0700.
  public var directory: URL { URL(fileURLWithPath: home.path, isDirectory: true) }

  // MARK: - Messages

  /// Stores a value, then notifies all listeners.
  ///
  /// Without a bus it does the same; the listeners of the user's processes are still notified. If
  /// the task is cancelled or the time is up, nothing is stored, unless it already was.
  ///
  /// - Parameters:
  ///   - value: the value. Its encoded form has at most ``MessageLimits/payloadBytes`` bytes.
  ///   - name: the name to pass it to.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Returns: the number of the message among all of its name.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``. Except with ``WormholeError/notification``, nothing was stored.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:`.
  @discardableResult public func pass<Value>(
    _ value: Value, to name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> UInt64 {
    try await channel(name).write(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.pass(value, to: name)
    }.get()
  }

  /// Notifies all listeners of a name without a value. Stored messages stay.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Returns: the number of the ping among all messages of the name.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:` with `nil`.
  @discardableResult public func ping<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> UInt64 {
    try await channel(name).write(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.ping(name)
    }.get()
  }

  /// Returns the stored value.
  ///
  /// - Parameters:
  ///   - name: the name that it was passed to.
  ///   - timeout: how long to wait; `nil` waits ten seconds for writers.
  /// - Returns: the value, or `nil` if there is none.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``, also if what is stored cannot be read as such a value.
  ///
  /// The corresponding method of MMWormhole is `messageWithIdentifier:`.
  public func message<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> Value? {
    try await channel(name).read(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.message(name)
    }.get()
  }

  /// Returns the messages that are kept, without pings, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - name: the name that they were passed to.
  ///   - number: the number after which to begin.
  ///   - timeout: how long to wait; `nil` waits ten seconds for writers.
  /// - Returns: at most one message with a transit of files, up to its limit with a ``LogTransit``.
  ///   All of them are in memory; ``messages(_:from:starting:)`` delivers them one by one.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``. A message that cannot be read is in the list, with its error.
  public func history<Value>(
    _ name: MessageName<Value>, since number: UInt64 = 0, timeout: Duration? = nil
  ) async throws(WormholeError) -> [Message<Value>] {
    try await channel(name).read(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.history(name, since: number)
    }.get()
  }

  /// Removes everything stored under a name, then notifies all listeners.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``.
  ///
  /// The corresponding method of MMWormhole is `clearMessageContentsForIdentifier:`, which
  /// notifies nobody.
  public func clear<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) {
    try await channel(name).write(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.clear(name)
    }.get()
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

  /// Returns the channel of a name by a transit.
  func channel(
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
