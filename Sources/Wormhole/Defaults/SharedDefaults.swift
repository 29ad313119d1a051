// Stores defaults for all processes of a group.

internal import DarwinNotify

/// Named values that the processes of a group share, and whose changes they observe.
///
/// `UserDefaults` cannot do that on Linux: setting a value does not write it, and other processes
/// are not notified. Here every process sees a value as soon as it is set, processes that change
/// values at the same time lose nothing, and observers are notified. All calls may be made on any
/// thread; they read or write a file. A child forked from a process that has used any log, defaults
/// or database cannot use them before it calls `exec`.
///
///     let defaults = try group.defaults
///     try defaults.set("dark", for: .theme)
///     for try await change in try defaults.changes(of: .theme) { apply(try change.value) }
public final class SharedDefaults: Sendable {
  private let store: SQLiteStore
  let changeName: NotificationName
  let center: DarwinNotificationCenter

  init(of group: AppGroup) throws(WormholeError) {
    changeName = group.changeName("defaults")
    center = group.center
    store = SQLiteStore(
      SQLiteFile(
        directory: group.container.path, name: AppGroup.defaultsFile, schema: DefaultsTable.schema))
    // Finds out now whether something is wrong with the file.
    _ = try read { (table) throws(WormholeError) in try table.lastNumber() }
  }

  /// The value of a key, or its default if nothing is set.
  ///
  /// Inside `transaction(_:)` it is the value from before the transaction.
  ///
  /// - Parameter key: the key.
  /// - Throws: ``WormholeError/decoding(_:)`` if the stored value has another type,
  ///   ``WormholeError/busy(path:)``, ``WormholeError/foreign(path:)``,
  ///   ``WormholeError/damaged(path:)``, ``WormholeError/unknownFormat(version:path:)``,
  ///   ``WormholeError/system(code:path:)``, ``WormholeError/database(code:message:)``.
  public subscript<Value>(_ key: DefaultsKey<Value>) -> Value {
    get throws(WormholeError) {
      let entry = try store.find { (database) throws(WormholeError) in
        try DefaultsTable(in: database).entry(key.name)
      }
      return try key.value(of: entry)
    }
  }

  /// Sets a value and notifies observers, unless the same bytes are already set. The bytes are JSON
  /// with sorted keys. Equal values of type `Set` may have different bytes, since sets have no
  /// order.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  /// - Throws: ``WormholeError/encoding(_:)``, ``WormholeError/invalidIdentifier`` for a key
  ///   without a name, ``WormholeError/notPrivate(path:)``, ``WormholeError/notification(_:)`` if
  ///   the value is set but nobody could be notified; what reading throws, except
  ///   ``WormholeError/decoding(_:)``.
  public func set<Value>(_ value: Value, for key: DefaultsKey<Value>) throws(WormholeError) {
    try change { (values) throws(WormholeError) in try values.set(value, for: key) }.get()
  }

  /// Removes a value, and notifies observers if there was one.
  ///
  /// - Parameter key: the key.
  /// - Throws: what ``set(_:for:)`` throws.
  public func remove<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) {
    try change { (values) throws(WormholeError) in try values.remove(key) }.get()
  }

  // MARK: - Reading and writing

  func read<Value>(
    _ body: (DefaultsTable) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try store.read { (database) throws(WormholeError) in try body(DefaultsTable(in: database)) }
  }

  /// Reads on a thread where it may block. The body gets no table if nothing was ever set.
  func readElsewhere<Value: Sendable>(
    _ body: @escaping @Sendable (DefaultsTable?) throws(WormholeError) -> Value
  ) async throws(WormholeError) -> Value {
    try await store.readers.run { [self] in
      Result { () throws(WormholeError) in try readHere(body) }
    }.get()
  }

  /// Reads on this thread. The body gets no table if nothing was ever set.
  func readHere<Value>(
    _ body: (DefaultsTable?) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    let value = try read { (table) throws(WormholeError) in try body(table) }
    return if let value { value } else { try body(nil) }
  }

  func change<Value, Failure: Error>(
    _ body: (inout Transaction) throws(Failure) -> Value
  ) throws(WormholeError) -> Result<Value, Failure> {
    var hasChanged = false
    let result = try store.write { (database) throws(WormholeError) in
      try database.transaction(.immediate) { () throws(Failure) in
        var transaction = Transaction(DefaultsTable(in: database))
        defer { hasChanged = transaction.hasChanged }
        return try body(&transaction)
      }
    }
    if case .success = result, hasChanged { try center.notify(changeName) }
    return result
  }
}

extension SharedDefaults {
  /// The values of a group while nobody else can change them.
  public struct Transaction: ~Copyable {
    private let table: DefaultsTable
    fileprivate private(set) var hasChanged = false

    fileprivate init(_ table: DefaultsTable) {
      self.table = table
    }

    /// The value of a key as this transaction left it, or its default.
    ///
    /// - Parameter key: the key.
    /// - Throws: what reading outside a transaction throws.
    public subscript<Value>(_ key: DefaultsKey<Value>) -> Value {
      get throws(WormholeError) { try key.value(of: try table.entry(key.name)) }
    }

    /// Sets a value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the key.
    /// - Throws: ``WormholeError/encoding(_:)``, ``WormholeError/invalidIdentifier``,
    ///   ``WormholeError/damaged(path:)``, ``WormholeError/database(code:message:)``.
    public mutating func set<Value>(
      _ value: Value, for key: DefaultsKey<Value>
    ) throws(WormholeError) {
      if try table.put(try key.encode(value), for: key.name) { hasChanged = true }
    }

    /// Removes all values.
    ///
    /// - Throws: ``WormholeError/damaged(path:)``, ``WormholeError/database(code:message:)``.
    public mutating func removeAll() throws(WormholeError) {
      for name in try table.names() {
        if try table.put(nil, for: name) { hasChanged = true }
      }
    }

    /// Removes a value.
    ///
    /// - Parameter key: the key.
    /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/damaged(path:)``,
    ///   ``WormholeError/database(code:message:)``.
    public mutating func remove<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) {
      if try table.put(nil, for: key.name) { hasChanged = true }
    }
  }
}

extension AppGroup {
  /// The defaults of the group, opened at their first use.
  ///
  /// - Throws: ``WormholeError/foreign(path:)`` if the file is not one of ours,
  ///   ``WormholeError/damaged(path:)``, ``WormholeError/unknownFormat(version:path:)``,
  ///   ``WormholeError/busy(path:)``, ``WormholeError/system(code:path:)``,
  ///   ``WormholeError/database(code:message:)``.
  public var defaults: SharedDefaults {
    get throws(WormholeError) {
      try singleton { () throws(WormholeError) in try SharedDefaults(of: self) }
    }
  }
}
