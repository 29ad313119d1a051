// Uses settings on the calling thread.

extension SharedDefaults {
  /// The functions that read and write values, for code that is not asynchronous.
  public var blocking: Blocking { Blocking(defaults: self) }

  /// Reads and writes the values of a group on the calling thread.
  ///
  /// The functions have the names and results of those of ``SharedDefaults``, and no timeout: they
  /// wait for at most ten seconds for other writers. That blocks the thread, and an actor that runs
  /// on it.
  ///
  ///     try defaults.blocking.set("dark", for: .theme)
  public struct Blocking: Sendable {
    fileprivate let defaults: SharedDefaults

    /// The value of a key, or its default if nothing is set.
    ///
    /// Inside a transaction it is the value from before the transaction.
    ///
    /// - Parameter key: the key.
    /// - Throws: what ``SharedDefaults/subscript(_:timeout:)`` throws.
    public subscript<Value>(_ key: DefaultsKey<Value>) -> Value {
      get throws(WormholeError) {
        let entry = try defaults.store.find { (database) throws(WormholeError) in
          try DefaultsTable(in: database).entry(key.name)
        }
        return try key.value(of: entry)
      }
    }

    /// Sets a value and notifies observers, unless the same bytes are already set.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the key.
    /// - Throws: what ``SharedDefaults/set(_:for:timeout:)`` throws.
    public func set<Value>(_ value: Value, for key: DefaultsKey<Value>) throws(WormholeError) {
      try transaction { (values) throws(WormholeError) in try values.set(value, for: key) }
    }

    /// Removes a value, and notifies observers if there was one.
    ///
    /// - Parameter key: the key.
    /// - Throws: what ``set(_:for:)`` throws.
    public func remove<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) {
      try transaction { (values) throws(WormholeError) in try values.remove(key) }
    }

    /// Removes all values, and notifies observers if there were any.
    ///
    /// - Throws: what ``set(_:for:)`` throws.
    public func removeAll() throws(WormholeError) {
      try transaction { (values) throws(WormholeError) in try values.removeAll() }
    }

    /// The names of all keys that are set, in order.
    ///
    /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
    public var keys: [String] {
      get throws(WormholeError) {
        try defaults.read { (table) throws(WormholeError) in try table.names() } ?? []
      }
    }

    /// Returns whether a key is set, even to its default or to a value of another type.
    ///
    /// - Parameter key: the key.
    /// - Returns: whether it is set.
    /// - Throws: what reading a value throws, except ``WormholeError/decoding``.
    public func contains<Value>(_ key: DefaultsKey<Value>) throws(WormholeError) -> Bool {
      let entry = try defaults.read { (table) throws(WormholeError) in try table.entry(key.name) }
      return entry??.value != nil
    }

    /// Changes a value while nobody else can change anything.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - body: changes the value. It must not take long: other processes wait for it.
    /// - Returns: what `body` returns.
    /// - Throws: what ``set(_:for:)`` throws; what `body` throws, and then nothing has changed.
    @discardableResult public func update<Value, Result>(
      _ key: DefaultsKey<Value>, _ body: (inout Value) throws(WormholeError) -> Result
    ) throws(WormholeError) -> Result {
      try transaction { (values) throws(WormholeError) in
        var value = try values[key]
        let result = try body(&value)
        try values.set(value, for: key)
        return result
      }
    }

    /// Changes a value while nobody else can change anything, by a body that may throw any error.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - body: changes the value. It must not take long: other processes wait for it.
    /// - Returns: what `body` returns.
    /// - Throws: what ``set(_:for:)`` throws; what `body` throws, and then nothing has changed.
    @_disfavoredOverload @discardableResult public func update<Value, Result>(
      _ key: DefaultsKey<Value>, _ body: (inout Value) throws -> Result
    ) throws -> Result {
      try transaction { values in
        var value = try values[key]
        let result = try body(&value)
        try values.set(value, for: key)
        return result
      }
    }

    /// Reads and changes several values while nobody else can change anything.
    ///
    /// - Parameter body: reads and changes values. It must not take long: other processes wait for
    ///   it.
    /// - Returns: what `body` returns.
    /// - Throws: what ``set(_:for:)`` throws; what `body` throws, and then nothing has changed.
    @discardableResult public func transaction<Result>(
      _ body: (inout Transaction) throws(WormholeError) -> Result
    ) throws(WormholeError) -> Result {
      try defaults.change(body).get()
    }

    /// Reads and changes several values, by a body that may throw any error.
    ///
    /// - Parameter body: reads and changes values. It must not take long: other processes wait for
    ///   it.
    /// - Returns: what `body` returns.
    /// - Throws: what ``set(_:for:)`` throws; what `body` throws, and then nothing has changed.
    @_disfavoredOverload @discardableResult public func transaction<Result>(
      _ body: (inout Transaction) throws -> Result
    ) throws -> Result {
      try defaults.change(body).get()
    }
  }
}
