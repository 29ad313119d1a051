// Changes settings without losing what others change.

extension SharedDefaults {
  /// Changes a value while nobody else can change anything.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - body: changes the value. It must not take long: other processes wait for it. For an update
  ///     that throws ``WormholeError`` alone, a body with `try` states its errors:
  ///     `{ (value) throws(WormholeError) in … }`.
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

  /// Reads a value and sets what follows from it, by a body that may throw any error.
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
  /// Others see all changes or none, and are notified once. Changing values inside by other means
  /// than the transaction throws ``WormholeError/busy``.
  ///
  /// - Parameter body: reads and changes values. It must not take long: other processes wait for
  ///   it. For a transaction that throws ``WormholeError`` alone, a body with `try` states its
  ///   errors: `{ (values) throws(WormholeError) in … }`.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:)`` throws; what `body` throws, and then nothing has changed.
  @discardableResult public func transaction<Result>(
    _ body: (inout Transaction) throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    try change(body).get()
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
    try change(body).get()
  }
}
