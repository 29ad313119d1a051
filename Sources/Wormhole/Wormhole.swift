// Passes typed messages between the processes of a group.

internal import DarwinNotify
public import Foundation

/// A store of messages in the directory of a group, with a bell for each name.
///
/// A message that was passed is stored before anybody hears of it; who starts later still finds it.
/// The bus carries the bell alone: the name of the message, never what is in it.
///
///     let hole = try Wormhole(group: AppGroup("org.example.lights"))
///     try hole.bind(Listener("label") { message in show(message.value) }, to: .lightState)
///     try hole.pass(true, to: .lightState)
///
/// All calls may be made on any thread. They read and write files where they are made, and wait for
/// at most ten seconds for another process that is in the middle of writing the same name. The
/// corresponding class of MMWormhole is `MMWormhole`.
public final class Wormhole: Sendable {
  /// The group that the messages belong to.
  public let group: AppGroup

  /// Where the messages of names that say nothing else are kept.
  public let transit: any MessageTransit

  let home: PrivateDirectory
  let listeners = ListenerTable<ChannelKey, MessageObservation>()

  /// Held while a listener takes its place, counted: a value without a size looks to the thread
  /// sanitizer like the object that it is in.
  let binding = Locked(0)

  private let directoryName: String
  private let channels = Locked<[ChannelKey: Channel]>([:])

  /// Opens a wormhole. Its directory is made if it is missing.
  ///
  /// Any number of wormholes may be open on one directory, in one process too. The named listeners
  /// of a wormhole end with it.
  ///
  /// - Parameters:
  ///   - group: the group that the messages belong to.
  ///   - directory: the name of a directory in that of the group: any text but an empty one, what
  ///     cannot stand in a file name is escaped.
  ///   - transit: where messages are kept, unless their name says so itself.
  /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/notPrivate(path:)``,
  ///   ``WormholeError/system(code:path:)``.
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

  /// Passes a value: stores it, then tells all who listen.
  ///
  /// Without a bus the value is stored all the same, and told once there is one.
  ///
  /// - Parameters:
  ///   - value: the value, encoded at most ``MessageLimits/payloadBytes`` bytes long.
  ///   - name: the name to pass it to.
  /// - Returns: the number of the message among all of its name.
  /// - Throws: ``WormholeError``; nothing was stored then, but for
  ///   ``WormholeError/notification(_:)``.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:`.
  @discardableResult public func pass<Value>(
    _ value: Value, to name: MessageName<Value>
  ) throws(WormholeError) -> UInt64 {
    try channel(name).send(.message(try name.encode(value)))
  }

  /// Rings the bell of a name. Listeners get no value, and what is stored stays.
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

  /// Changes the value that is stored, while no other process can pass one.
  ///
  /// What others passed before is seen, what they pass meanwhile waits: no change is lost. A value
  /// of `nil` stands for none, before and after. Do not touch the same name in the body by other
  /// calls: they would wait for this one.
  ///
  /// - Parameters:
  ///   - name: a name whose transit is ``CoordinatedFileTransit`` or ``LogTransit``.
  ///   - body: changes the value.
  /// - Returns: what the body returns.
  /// - Throws: ``WormholeError/notCoordinated`` if the transit has no lock for this, what prevents
  ///   reading the value, what the body throws: nothing has changed then. Other ``WormholeError``.
  @discardableResult public func update<Value, Result>(
    _ name: MessageName<Value>, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    let channel = try channel(name)
    var result: Result?
    let number = try channel.mailbox.update { newest in
      var value = try name.value(of: newest)
      result = try body(&value)
      if let value { return Letter(.message(try name.encode(value))) }
      return newest.map { _ in Letter(.cleared) }
    }
    if number != nil { try group.center.ring(channel.bell) }
    guard let result else { preconditionFailure("the mailbox did not run the update") }
    return result
  }

  // MARK: - Reading

  /// Returns the value that is stored.
  ///
  /// - Parameter name: the name that it was passed to.
  /// - Returns: the value, or `nil` if there is none.
  /// - Throws: ``WormholeError``, for one if what is stored cannot be read as such a value.
  ///
  /// The corresponding method of MMWormhole is `messageWithIdentifier:`.
  public func message<Value>(_ name: MessageName<Value>) throws(WormholeError) -> Value? {
    try name.value(of: try channel(name).mailbox.lastMessage())
  }

  /// Returns the messages that are kept, in the order of their numbers: no pings.
  ///
  /// - Parameters:
  ///   - name: the name that they were passed to.
  ///   - sequence: only messages behind the one with this number.
  /// - Returns: with a transit of files at most one, with ``LogTransit`` up to its limit. All of
  ///   them are in memory; ``messages(_:from:replay:)`` takes them one by one.
  /// - Throws: ``WormholeError``. One that cannot be read is in the list, with its error.
  public func history<Value>(
    _ name: MessageName<Value>, since sequence: UInt64 = 0
  ) throws(WormholeError) -> [Message<Value>] {
    let mailbox = try channel(name).mailbox
    // What others pass meanwhile is not waited for.
    let last = try mailbox.lastNumber()
    guard sequence < last else { return [] }
    var reader = try MessageReader(name, mailbox, from: .since(sequence))
    var messages: [Message<Value>] = []
    repeat {
      messages += try reader.read(limit: 64).filter { $0.value != nil || $0.error != nil }
    } while !reader.isAtEnd && reader.place.number < last
    return messages
  }

  // MARK: - Clearing

  /// Takes away what is stored under a name, then tells all who listen.
  ///
  /// - Parameter name: the name.
  /// - Throws: ``WormholeError``.
  ///
  /// The corresponding method of MMWormhole is `clearMessageContentsForIdentifier:`, which tells
  /// nobody.
  public func clear<Value>(_ name: MessageName<Value>) throws(WormholeError) {
    _ = try channel(name).send(.cleared)
  }

  /// Takes away what is stored under all names, then tells all who listen.
  ///
  /// Only messages are removed, of the transits of this library and of this wormhole's own; other
  /// files in the directory stay.
  ///
  /// - Throws: ``WormholeError``: the first one, after all the others have been tried.
  ///
  /// The corresponding method of MMWormhole is `clearAllMessageContents`.
  public func clearAll() throws(WormholeError) {
    var failure: WormholeError?
    for (name, transit) in try storedNames() {
      do throws(WormholeError) {
        _ = try channel(name, transit).send(.cleared)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func storedNames() throws(WormholeError) -> [(String, any MessageTransit)] {
    // Whether a transit is durable, or how much it keeps, makes no difference to its names.
    var transits: [any MessageTransit] = [transit]
    if !(transit is FileTransit || transit is CoordinatedFileTransit) { transits.append(.file) }
    if !(transit is LogTransit) { transits.append(.log) }
    var names: [(String, any MessageTransit)] = []
    for transit in transits {
      names += try transit.names(in: directory).map { ($0, transit) }
    }
    return names
  }

  // MARK: - Channels

  /// Returns what belongs to a name.
  func channel<Value>(_ name: MessageName<Value>) throws(WormholeError) -> Channel {
    try channel(name.rawValue, name.transit ?? transit)
  }

  /// Returns what the listeners of a name are kept under.
  func key<Value>(of name: MessageName<Value>) -> ChannelKey {
    ChannelKey(name.rawValue, name.transit ?? transit)
  }

  private func channel(
    _ name: String, _ transit: any MessageTransit
  ) throws(WormholeError) -> Channel {
    guard !name.isEmpty else { throw .invalidIdentifier }
    let key = ChannelKey(name, transit)
    if let channel = channels.withLock({ $0[key] }) { return channel }
    let new = Channel(
      mailbox: try transit.openMailbox(for: name, in: directory),
      bell: group.bell(directoryName, name), center: group.center)
    return channels.withLock { channels in
      if let channel = channels[key] { return channel }
      channels[key] = new
      return new
    }
  }
}
