// Changes values without losing the changes of others.

internal import DarwinNotifySupport

extension SharedDefaults {
  /// Changes a value. If another process or thread changes it meanwhile, tries again.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to try; `nil` for ten seconds. The body is not interrupted.
  ///   - body: changes the value. It may run more than once, on a thread where it may block
  ///     without delaying others.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:timeout:)`` throws, ``WormholeError/busy`` if others kept changing
  ///   the value; what `body` throws, in which case nothing has changed.
  @discardableResult public func update<Value, Result: Sendable>(
    _ key: DefaultsKey<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value) throws -> Result
  ) async throws -> Result {
    try await transaction(timeout: timeout) { try $0.update(key, body) }
  }

  /// Reads and changes several values as one. Others see all changes or none, and are notified
  /// once.
  ///
  /// - Parameters:
  ///   - timeout: how long to try; `nil` for ten seconds. The body is not interrupted.
  ///   - body: reads and changes values. Everything that it reads is from one moment: if
  ///     another process or thread, or the body itself outside the transaction, changes something
  ///     that it has read, it runs again. It runs on a thread where it may block without delaying
  ///     others.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:timeout:)`` throws, ``WormholeError/busy`` if others kept changing
  ///   the values; what `body` throws, in which case nothing has changed.
  @discardableResult public func transaction<Result: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await bodies.run(on: store.path, timeout: timeout) { [self] limit in
      Swift.Result { try transact(within: limit, body) }
    }.get()
  }

  func transact<Result>(
    within limit: WorkLimit?, _ body: (inout Transaction) throws -> Result
  ) throws -> Result {
    try store.transaction(within: limit) { stored in
      var transaction = Transaction(stored: stored)
      // Also if the body throws: it may have read something that has changed.
      defer { stored = transaction.stored }
      return try body(&transaction)
    }
  }

  /// The values of a group, to read and change as one.
  public struct Transaction: ~Copyable {
    fileprivate var stored: StoreTransaction

    /// The value of a key as this transaction left it, or its default.
    ///
    /// - Parameter key: the key.
    /// - Throws: what reading outside a transaction throws; ``WormholeError/busy`` if
    ///   something that was read before has changed. Do not catch that error: the body then runs
    ///   again.
    public subscript<Value>(_ key: DefaultsKey<Value>) -> Value {
      mutating get throws { try key.value(of: stored.content(of: key.name)) }
    }

    /// Sets a value.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the key.
    /// - Throws: ``WormholeError/encoding``, ``WormholeError/invalidIdentifier``,
    ///   ``WormholeError/tooLarge``.
    public mutating func set<Value>(_ value: Value, for key: DefaultsKey<Value>) throws {
      try stored.set(try key.encode(value), of: key.name)
    }

    /// Removes a value.
    ///
    /// - Parameter key: the key.
    /// - Throws: ``WormholeError/invalidIdentifier``.
    public mutating func remove<Value>(_ key: DefaultsKey<Value>) throws {
      try stored.set(nil, of: key.name)
    }

    /// Removes all values.
    public mutating func removeAll() {
      stored.removeAll()
    }

    mutating func update<Value, Result>(
      _ key: DefaultsKey<Value>, _ body: (inout Value) throws -> Result
    ) throws -> Result {
      var value = try self[key]
      let result = try body(&value)
      try set(value, for: key)
      return result
    }
  }
}
