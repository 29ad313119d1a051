// Shares named values among the processes of a group.

internal import DarwinNotify
internal import DarwinNotifySupport

/// Named values that the processes of a group share, and whose changes they observe.
///
/// `UserDefaults` cannot do that on Linux: setting a value does not write it, and other processes
/// are not notified. Here every process sees a value as soon as it is set, processes that change
/// values at the same time lose nothing, and observers are notified. All calls may be made on any
/// thread. Functions that read or write values are asynchronous: they work on threads of the
/// library, and end when the task is cancelled. ``blocking`` has the same functions for code that
/// is not asynchronous. A child forked from a process that has used them cannot use them before it
/// calls `exec`.
///
///     let defaults = group.defaults
///     try await defaults.set("dark", for: .theme)
///     for try await change in try defaults.changes(of: .theme) { apply(try change.value) }
///
/// All errors are ``WormholeError``.
public final class SharedDefaults: Sendable {
  let store: MessageStore

  /// Where the bodies of transactions run: they may block, and then hold up only each other.
  let bodies = WorkQueue(width: 4)

  fileprivate init(in store: MessageStore) {
    self.store = store
  }

  /// The value of a key, or its default if nothing is set. Reading does not wait for writers.
  ///
  /// - Parameter key: the key.
  /// - Throws: ``WormholeError/decoding`` if the stored value has another type,
  ///   ``WormholeError/codecMismatch`` if another program stored something other than JSON,
  ///   ``WormholeError/cancelled``, ``WormholeError/foreign``, ``WormholeError/damaged``,
  ///   ``WormholeError/unknownFormat``, ``WormholeError/system``, ``WormholeError/database``.
  public subscript<Value>(_ key: DefaultsKey<Value>) -> Value {
    get async throws {
      let store = store
      return try await store.run(.reading) { (limit) throws(WormholeError) in
        try key.value(of: store.newest(of: key.name, within: limit)?.content)
      }
    }
  }

  /// Sets a value and notifies observers, unless the same bytes are already set. The bytes are JSON
  /// with sorted keys. Equal values of type `Set` may have different bytes, since sets have no
  /// order.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: ``WormholeError/encoding``, ``WormholeError/invalidIdentifier`` for a key whose name
  ///   is empty, too long or contains a NUL, ``WormholeError/tooLarge`` for more than 1 MiB,
  ///   ``WormholeError/busy``, ``WormholeError/timedOut``, ``WormholeError/notPrivate``,
  ///   ``WormholeError/notification`` if the value is set but nobody could be notified; what
  ///   reading throws, except ``WormholeError/decoding``. If the task is cancelled or the time is
  ///   up, nothing has changed.
  public func set<Value>(
    _ value: Value, for key: DefaultsKey<Value>, timeout: Duration? = nil
  ) async throws {
    try await put(try key.encode(value), for: key, timeout)
  }

  /// Removes a value, and notifies observers if there was one.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``set(_:for:timeout:)`` throws.
  public func remove<Value>(_ key: DefaultsKey<Value>, timeout: Duration? = nil) async throws {
    try await put(nil, for: key, timeout)
  }

  /// Stores a value, `nil` to remove it. Returns the position of its record.
  @discardableResult func put<Value>(
    _ value: StoredValue?, for key: DefaultsKey<Value>, _ timeout: Duration?
  ) async throws(WormholeError) -> StoredPosition {
    let store = store
    return try await store.run(.writing, timeout: timeout) { (limit) throws(WormholeError) in
      let (number, identity) = try store.set(value, of: key.name, within: limit)
      return StoredPosition(number: number, identity: identity)
    }
  }

  /// Removes all values, and notifies observers if there were any.
  ///
  /// - Parameter timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``set(_:for:timeout:)`` throws.
  public func removeAll(timeout: Duration? = nil) async throws {
    try await transaction(timeout: timeout) { $0.removeAll() }
  }

  /// The names of all keys that are set, in order.
  ///
  /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
  public var keys: [String] {
    get async throws {
      try await store.run(.reading) { [self] (limit) throws(WormholeError) in
        try findKeys(within: limit)
      }
    }
  }

  func findKeys(within limit: WorkLimit?) throws(WormholeError) -> [String] {
    try store.names(within: limit).filter(\.hasMessage).map(\.name)
  }

  /// Returns whether a key is set, even to its default or to a value of another type.
  ///
  /// - Parameter key: the key.
  /// - Returns: whether it is set.
  /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
  public func contains<Value>(_ key: DefaultsKey<Value>) async throws -> Bool {
    let store = store
    return try await store.run(.reading) { (limit) throws(WormholeError) in
      try store.newest(of: key.name, within: limit) != nil
    }
  }
}

extension AppGroup {
  /// The defaults of the group: the same object at each use. Nothing is read before it is used.
  public var defaults: SharedDefaults {
    sharedDefaults.withLock { kept in
      let defaults =
        kept as? SharedDefaults ?? SharedDefaults(in: store(named: Self.defaultsStore))
      kept = defaults
      return defaults
    }
  }

  /// Removes all values of the defaults, also if their file is damaged or another program has
  /// written it, and notifies its observers.
  ///
  /// All processes continue with an empty file. A value that is set meanwhile may be lost. The old
  /// file gets the suffix `.damaged`.
  ///
  /// - Throws: ``WormholeError/system``; ``WormholeError/notification`` if all is
  ///   removed, but observers could not be notified.
  public func resetDefaults() throws {
    let store = store(named: Self.defaultsStore)
    try store.startAnew()
    try store.announce([""])
  }
}
