// Keeps settings for all processes of a group.

internal import DarwinNotify

/// Named values that the processes of a group share, and tell each other of.
///
/// `UserDefaults` cannot do that on Linux: it is neither written when something is set, nor does
/// another process learn of it. Here a value that was set is there for every process at once, two
/// processes that change something at the same time lose nothing, and whoever listens is told. All
/// calls may be made on any thread; they read or write a file. A process that was forked from one
/// that has used any log, defaults or database cannot use them before it calls `exec`.
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
    // What is wrong with the file shall be found out here.
    _ = try read { (table) throws(WormholeError) in try table.lastNumber() }
  }

  /// The value of a key, or its default where nothing is set.
  ///
  /// Inside of ``transaction(_:)`` it is the value of before, until the transaction has ended.
  ///
  /// - Parameter key: the key.
  /// - Throws: ``WormholeError/decoding(_:)`` if what is kept is a value of another type,
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

  /// Sets a value, and tells those who listen, unless the same bytes are set already: JSON with its
  /// keys in order. Sets have no order, so that equal ones can have different bytes.
  ///
  /// - Parameters:
  ///   - value: the value.
  ///   - key: the key.
  /// - Throws: ``WormholeError/encoding(_:)``, ``WormholeError/invalidIdentifier`` for a key
  ///   without a name, ``WormholeError/notPrivate(path:)``, ``WormholeError/notification(_:)`` if
  ///   it is set but nobody could be told; what reading throws, but for
  ///   ``WormholeError/decoding(_:)``.
  public func set<Value>(_ value: Value, for key: DefaultsKey<Value>) throws(WormholeError) {
    try change { (values) throws(WormholeError) in try values.set(value, for: key) }.get()
  }

  /// Removes a value, and tells those who listen if there was one.
  ///
  /// - Parameter key: the key.
  /// - Throws: what ``set(_:for:)`` throws.
  public func remove<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) {
    try change { (values) throws(WormholeError) in try values.remove(key) }.get()
  }

  /// Reads a value and sets what follows from it, while nobody else can change anything.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - body: changes the value. It must not take long: other processes wait for it.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:)`` throws; what `body` throws, nothing has changed then.
  public func update<Value, Result>(
    _ key: DefaultsKey<Value>, _ body: (inout Value) throws -> Result
  ) throws -> Result {
    try transaction { values in
      var value = try values[key]
      let result = try body(&value)
      try values.set(value, for: key)
      return result
    }
  }

  /// Reads and changes several values, while nobody else can change anything.
  ///
  /// Others see all of it or nothing, and are told once. The values of this object must not be
  /// changed inside by other means: that throws ``WormholeError/busy(path:)``.
  ///
  /// - Parameter body: what to do. It must not take long: other processes wait for it.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:)`` throws; what `body` throws, nothing has changed then.
  public func transaction<Result>(
    _ body: (inout Transaction) throws -> Result
  ) throws -> Result {
    try change(body).get()
  }

  // MARK: - What others are built of

  func read<Value>(
    _ body: (DefaultsTable) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try store.read { (database) throws(WormholeError) in try body(DefaultsTable(in: database)) }
  }

  private func change<Value, Failure: Error>(
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

    /// The value of a key, as it was left by this transaction, or its default.
    ///
    /// - Parameter key: the key.
    /// - Throws: what reading outside of a transaction throws.
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
  /// The settings of the group, opened when they are first asked for.
  ///
  /// - Throws: ``WormholeError/foreign(path:)`` if the file is none of ours,
  ///   ``WormholeError/damaged(path:)``, ``WormholeError/unknownFormat(version:path:)``,
  ///   ``WormholeError/busy(path:)``, ``WormholeError/system(code:path:)``,
  ///   ``WormholeError/database(code:message:)``.
  public var defaults: SharedDefaults {
    get throws(WormholeError) {
      try singleton { () throws(WormholeError) in try SharedDefaults(of: self) }
    }
  }
}
