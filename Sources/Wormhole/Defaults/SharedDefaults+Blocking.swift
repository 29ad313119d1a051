// Uses values on the calling thread.

extension SharedDefaults {
  /// The functions that read and write values, for code that is not asynchronous.
  public var blocking: Blocking { Blocking(defaults: self) }

  /// Reads and writes the values of a group on the calling thread.
  ///
  /// The functions have the names, results and errors of those of ``SharedDefaults``, and no
  /// timeout: they wait for at most ten seconds for other writers.
  ///
  ///     try defaults.blocking.set("dark", for: .theme)
  public struct Blocking: Sendable {
    fileprivate let defaults: SharedDefaults

    /// The value of a key, or its default if nothing is set. Inside a transaction it is the value
    /// from before the transaction.
    @available(*, noasync, message: "await the value of the defaults")
    public subscript<Value>(_ key: DefaultsKey<Value>) -> Value {
      get throws { try key.value(of: defaults.store.newest(of: key.name)?.content) }
    }

    /// Sets a value and notifies observers, unless the same bytes are already set.
    @available(*, noasync, message: "await set(_:for:) of the defaults")
    public func set<Value>(_ value: Value, for key: DefaultsKey<Value>) throws {
      try defaults.store.set(try key.encode(value), of: key.name)
    }

    /// Removes a value, and notifies observers if there was one.
    @available(*, noasync, message: "await remove(_:) of the defaults")
    public func remove<Value>(_ key: DefaultsKey<Value>) throws {
      try defaults.store.set(nil, of: key.name)
    }

    /// Removes all values, and notifies observers if there were any.
    @available(*, noasync, message: "await removeAll() of the defaults")
    public func removeAll() throws {
      try transaction { $0.removeAll() }
    }

    /// The names of all keys that are set, in order.
    @available(*, noasync, message: "await keys of the defaults")
    public var keys: [String] {
      get throws { try defaults.findKeys(within: nil) }
    }

    /// Returns whether a key is set, even to its default or to a value of another type.
    @available(*, noasync, message: "await contains(_:) of the defaults")
    public func contains<Value>(_ key: DefaultsKey<Value>) throws -> Bool {
      try defaults.store.newest(of: key.name) != nil
    }

    /// Changes a value. If another process or thread changes it meanwhile, tries again.
    @available(*, noasync, message: "await update(_:_:) of the defaults")
    @discardableResult public func update<Value, Result>(
      _ key: DefaultsKey<Value>, _ body: (inout Value) throws -> Result
    ) throws -> Result {
      try transaction { try $0.update(key, body) }
    }

    /// Reads and changes several values as one.
    @available(*, noasync, message: "await transaction(_:) of the defaults")
    @discardableResult public func transaction<Result>(
      _ body: (inout Transaction) throws -> Result
    ) throws -> Result {
      try defaults.transact(within: nil, body)
    }
  }
}
