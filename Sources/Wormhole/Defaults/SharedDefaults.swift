// Stores defaults for all processes of a group.

internal import DarwinNotify
internal import DarwinNotifySupport

/// Named values that the processes of a group share, and whose changes they observe.
///
/// `UserDefaults` cannot do that on Linux: setting a value does not write it, and other processes
/// are not notified. Here every process sees a value as soon as it is set, processes that change
/// values at the same time lose nothing, and observers are notified. All calls may be made on any
/// thread. Functions that read or write values are asynchronous: they work on threads of the
/// library, and end when the task is cancelled. ``blocking`` has the same functions for code that
/// is not asynchronous. A child forked from a process that has used any log, defaults or database
/// cannot use them before it calls `exec`.
///
///     let defaults = try group.defaults
///     try await defaults.set("dark", for: .theme)
///     for try await change in try defaults.changes(of: .theme) { apply(try change.value) }
public final class SharedDefaults: Sendable {
  let store: SQLiteStore
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
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` for no limit. Reading seldom waits: not for writers.
  /// - Throws: ``WormholeError/decoding`` if the stored value has another type,
  ///   ``WormholeError/cancelled``, ``WormholeError/timedOut``,
  ///   ``WormholeError/busy``, ``WormholeError/foreign``,
  ///   ``WormholeError/damaged``, ``WormholeError/unknownFormat``,
  ///   ``WormholeError/system``, ``WormholeError/database``.
  public subscript<Value>(_ key: DefaultsKey<Value>, timeout timeout: Duration? = nil) -> Value {
    get async throws(WormholeError) {
      try await reading(timeout) { (defaults) throws(WormholeError) in try defaults[key] }
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
  /// - Throws: ``WormholeError/encoding``, ``WormholeError/invalidIdentifier`` for a key
  ///   without a name, ``WormholeError/notPrivate``, ``WormholeError/notification`` if
  ///   the value is set but nobody could be notified; what reading throws, except
  ///   ``WormholeError/decoding``. If the task is cancelled or the time is up, nothing has changed.
  public func set<Value>(
    _ value: Value, for key: DefaultsKey<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) {
    try await writing(timeout) { (defaults) throws(WormholeError) in
      try defaults.set(value, for: key)
    }.get()
  }

  /// Removes a value, and notifies observers if there was one.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``set(_:for:timeout:)`` throws.
  public func remove<Value>(
    _ key: DefaultsKey<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) {
    try await writing(timeout) { (defaults) throws(WormholeError) in try defaults.remove(key) }
      .get()
  }

  /// Removes all values, and notifies observers if there were any.
  ///
  /// - Parameter timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: what ``set(_:for:timeout:)`` throws.
  public func removeAll(timeout: Duration? = nil) async throws(WormholeError) {
    try await writing(timeout) { (defaults) throws(WormholeError) in try defaults.removeAll() }
      .get()
  }

  /// The names of all keys that are set, in order.
  ///
  /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
  public var keys: [String] {
    get async throws(WormholeError) {
      try await reading(nil) { (defaults) throws(WormholeError) in try defaults.keys }
    }
  }

  /// Returns whether a key is set, even to its default or to a value of another type.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` for no limit.
  /// - Returns: whether it is set.
  /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
  public func contains<Value>(
    _ key: DefaultsKey<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> Bool {
    try await reading(timeout) { (defaults) throws(WormholeError) in try defaults.contains(key) }
  }

  // MARK: - Reading and writing

  func read<Value>(
    _ body: (DefaultsTable) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try store.read { (database) throws(WormholeError) in try body(DefaultsTable(in: database)) }
  }

  /// Reads on a thread where it may block.
  private func reading<Value: Sendable>(
    _ timeout: Duration?, _ body: @escaping @Sendable (Blocking) throws(WormholeError) -> Value
  ) async throws(WormholeError) -> Value {
    try await store.readers.run(timeout: timeout) { [blocking] in
      Result { () throws(WormholeError) in try body(blocking) }
    }.get()
  }

  /// Writes on a thread where it may block.
  func writing<Value: Sendable, Failure: Error>(
    _ timeout: Duration?, _ body: @escaping @Sendable (Blocking) throws(Failure) -> Value
  ) async throws(WormholeError) -> Result<Value, Failure> {
    try await store.writers.run(timeout: timeout) { [blocking] in
      Result { () throws(Failure) in try body(blocking) }
    }
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
    /// - Throws: ``WormholeError/encoding``, ``WormholeError/invalidIdentifier``,
    ///   ``WormholeError/damaged``, ``WormholeError/database``.
    public mutating func set<Value>(
      _ value: Value, for key: DefaultsKey<Value>
    ) throws(WormholeError) {
      if try table.put(try key.encode(value), for: key.name) { hasChanged = true }
    }

    /// Removes all values.
    ///
    /// - Throws: ``WormholeError/damaged``, ``WormholeError/database``.
    public mutating func removeAll() throws(WormholeError) {
      for name in try table.names() {
        if try table.put(nil, for: name) { hasChanged = true }
      }
    }

    /// Removes a value.
    ///
    /// - Parameter key: the key.
    /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/damaged``,
    ///   ``WormholeError/database``.
    public mutating func remove<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) {
      if try table.put(nil, for: key.name) { hasChanged = true }
    }
  }
}

extension AppGroup {
  /// The defaults of the group, opened at their first use.
  ///
  /// - Throws: ``WormholeError/foreign`` if the file is not one of ours,
  ///   ``WormholeError/damaged``, ``WormholeError/unknownFormat``,
  ///   ``WormholeError/busy``, ``WormholeError/system``,
  ///   ``WormholeError/database``.
  public var defaults: SharedDefaults {
    get throws(WormholeError) {
      try singleton { () throws(WormholeError) in try SharedDefaults(of: self) }
    }
  }
}

/// The name of a value in the defaults of a group, with its type and default.
///
/// Constants are best defined in an extension:
///
///     extension DefaultsKey where Value == String {
///       static var theme: Self { DefaultsKey("theme", default: "light") }
///     }
public struct DefaultsKey<Value: Codable & Sendable>: Sendable {
  /// The name: any nonempty text.
  public let name: String

  /// The value to read if nothing is set.
  public let defaultValue: Value

  /// Creates a key.
  ///
  /// - Parameters:
  ///   - name: the name of the value.
  ///   - defaultValue: the value to read if nothing is set. Programs may use different ones.
  public init(_ name: String, default defaultValue: Value) {
    self.name = name
    self.defaultValue = defaultValue
  }
}

extension DefaultsKey: Hashable {
  /// Returns whether the names of two keys have the same bytes.
  public static func == (left: Self, right: Self) -> Bool {
    ExactString(left.name) == ExactString(right.name)
  }

  /// Feeds the name to a hasher.
  public func hash(into hasher: inout Hasher) {
    ExactString(name).hash(into: &hasher)
  }
}

extension AppGroup {
  /// Removes all values of the defaults, also if their file is damaged or another program has
  /// written it, and notifies its observers.
  ///
  /// All processes go on with an empty file. A value that is set meanwhile may be lost.
  ///
  /// - Throws: ``WormholeError/system``; ``WormholeError/notification`` if all is
  ///   removed, but observers could not be notified.
  public func resetDefaults() throws(WormholeError) {
    try SQLiteFile(directory: container.path, name: Self.defaultsFile).remove()
    try center.notify(changeName("defaults"))
  }
}
