// Passes messages between the processes of a group.

internal import DarwinNotify
internal import DarwinNotifySupport

/// Typed messages that the programs of a group pass to each other, with a change notification for
/// each name.
///
/// A message is stored before it is announced, so a program that starts later still finds it. The
/// bus carries only the change notification: the name of the message, never its value.
///
///     let hole = try Wormhole(group: AppGroup("org.example.lights"))
///     try hole.bind(Listener("label") { message in show(message.value) }, to: .lightState)
///     try await hole.pass(true, to: .lightState)
///
/// All functions may be called on any thread. Those that read or write messages are asynchronous:
/// they work on threads of the library, wait at most ten seconds for another process that is
/// writing, and end when the task is cancelled. ``blocking`` has some of them for synchronous code.
/// The corresponding class of MMWormhole is `MMWormhole`.
public final class Wormhole: Sendable {
  /// The group that the messages belong to.
  public let group: AppGroup

  let store: MessageStore
  let listeners = ListenerTable<ExactString, BoundListener>()
  let leaving = Locked<[LeavingListener]>([])

  /// Runs the bodies of updates, so that nobody else waits for them.
  private let updates = WorkQueue(width: 4)

  /// Opens a wormhole. Its directory is created if it is missing, its file with the first message.
  ///
  /// Any number of wormholes may be open on one directory, in one process too. The named listeners
  /// of a wormhole end with it.
  ///
  /// - Parameters:
  ///   - group: the group that the messages belong to.
  ///   - directory: the name of a directory in that of the group: any nonempty text but `defaults`.
  ///     Characters that a file name cannot contain are escaped.
  /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/notPrivate``,
  ///   ``WormholeError/system``; ``WormholeError/reservedName`` for the directory of the defaults.
  public init(group: AppGroup, directory: String = "wormhole") throws {
    guard !directory.isEmpty else { throw WormholeError.invalidIdentifier }
    guard directory != AppGroup.defaultsStore else { throw WormholeError.reservedName(directory) }
    self.group = group
    store = group.store(named: directory)
    _ = try PrivateDirectory(store.directory)
  }

  // MARK: - Messages

  /// Stores a value, then notifies all listeners.
  ///
  /// Without a bus it does the same; the listeners of the user's processes are still notified. If
  /// the task is cancelled or the time is up, nothing is stored, unless it already was.
  ///
  /// - Parameters:
  ///   - value: the value. Its encoded form has at most 1 MiB: pass the path of a file for more.
  ///   - name: the name to pass it to.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Returns: the number of the message among all of its name.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``. Except with ``WormholeError/notification``, nothing was stored.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:`.
  @discardableResult public func pass<Value>(
    _ value: Value, to name: MessageName<Value>, timeout: Duration? = nil
  ) async throws -> UInt64 {
    try await pass(name.draft(value), to: name.rawValue, timeout)
  }

  /// Notifies all listeners of a name without a value. Stored messages stay.
  ///
  /// - Parameter name: the name.
  /// - Returns: the number of the ping among all messages of the name.
  /// - Throws: ``WormholeError``.
  ///
  /// The corresponding method of MMWormhole is `passMessageObject:identifier:` with `nil`.
  @discardableResult public func ping<Value>(_ name: MessageName<Value>) async throws -> UInt64 {
    try await pass(name.draft(.ping), to: name.rawValue, nil)
  }

  /// Returns the newest value.
  ///
  /// - Parameter name: the name that it was passed to.
  /// - Returns: the value, or `nil` if there is none.
  /// - Throws: ``WormholeError``, also if the stored message cannot be read as such a value.
  ///
  /// The corresponding method of MMWormhole is `messageWithIdentifier:`.
  public func message<Value>(_ name: MessageName<Value>) async throws -> Value? {
    let newest = try await store.run(.reading) { [store] (limit) throws(WormholeError) in
      try store.newest(of: name.rawValue, within: limit)
    }
    return try name.value(of: newest)
  }

  /// Returns the messages that are kept, without pings, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - name: the name that they were passed to.
  ///   - number: the number after which to begin.
  /// - Returns: the messages, all in memory; ``messages(_:from:starting:)`` delivers them one by
  ///   one.
  /// - Throws: ``WormholeError``. A message that cannot be read is in the list, with its error.
  public func history<Value>(
    _ name: MessageName<Value>, since number: UInt64 = 0
  ) async throws -> [Message<Value>] {
    let records = try await store.run(.reading) { [store] (limit) throws(WormholeError) in
      try store.history(of: name.rawValue, after: number, within: limit)
    }
    return name.messages(records, since: number)
  }

  /// Changes the newest value, so that no change is lost.
  ///
  /// `nil` stands for no value, before and after. Nothing is locked while the body runs: if
  /// another program passes a message meanwhile, the body runs again with that one.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: changes the value. It runs on a thread where it may block, perhaps more than once.
  /// - Returns: what the body returned the last time.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``; the error if the value
  ///   cannot be read; what the body throws. Nothing has changed then.
  @discardableResult public func update<Value, Result: Sendable>(
    _ name: MessageName<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result {
    try await updates.run(on: name.rawValue, timeout: timeout) { [store] limit in
      Swift.Result { try store.update(name, within: limit, body) }
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
  public func clear<Value>(_ name: MessageName<Value>, timeout: Duration? = nil) async throws {
    try await pass(name.draft(.cleared), to: name.rawValue, timeout)
  }

  @discardableResult private func pass(
    _ draft: RecordDraft, to name: String, _ timeout: Duration?
  ) async throws(WormholeError) -> UInt64 {
    try await store.run(.writing, timeout: timeout) { [store] (limit) throws(WormholeError) in
      try store.pass(draft, to: name, within: limit)
    }
  }
}

extension MessageStore {
  /// Passes the value computed from the newest one.
  func update<Value, Result>(
    _ name: MessageName<Value>, within limit: WorkLimit? = nil,
    _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try update(name.rawValue, within: limit) { newest in
      var value = try name.value(of: newest)
      let result = try body(&value)
      if let value { return (try name.draft(value), result) }
      return (newest.map { _ in name.draft(.cleared) }, result)
    }
  }
}

extension MessageName {
  /// Decodes the records that follow a number.
  func messages(_ records: [StoredRecord], since number: UInt64) -> [Wormhole.Message<Value>] {
    var last = number
    return records.map { record in
      defer { last = record.number }
      return message(record, missed: record.number - last - 1)
    }
  }
}
