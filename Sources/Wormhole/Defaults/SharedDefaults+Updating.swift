// Changes settings without losing what others change.

extension SharedDefaults {
  /// Changes a value while nobody else can change anything.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: changes the value. It runs on a thread where it may block, but must not take long:
  ///     other processes wait for it. For an update that throws ``WormholeError`` alone, a body
  ///     with `try` states its errors: `{ (value) throws(WormholeError) in … }`.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:timeout:)`` throws; what `body` throws, and then nothing has
  ///   changed.
  @discardableResult public func update<Value, Result: Sendable>(
    _ key: DefaultsKey<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value) throws(WormholeError) -> Result
  ) async throws(WormholeError) -> Result {
    try await writing(timeout) { (defaults) throws(WormholeError) in
      try defaults.update(key, body)
    }.get()
  }

  /// Changes a value while nobody else can change anything, by a body that may throw any error.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: changes the value. It must not take long: other processes wait for it.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:timeout:)`` throws; what `body` throws, and then nothing has
  ///   changed.
  @_disfavoredOverload @discardableResult public func update<Value, Result: Sendable>(
    _ key: DefaultsKey<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value) throws -> Result
  ) async throws -> Result {
    try await writing(timeout) { try $0.update(key, body) }.get()
  }

  /// Reads and changes several values while nobody else can change anything.
  ///
  /// Others see all changes or none, and are notified once. Changing values inside by other means
  /// than the transaction throws ``WormholeError/busy``.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: reads and changes values. It runs on a thread where it may block, but must not take
  ///     long: other processes wait for it. For a transaction that throws ``WormholeError`` alone,
  ///     a body with `try` states its errors: `{ (values) throws(WormholeError) in … }`.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:timeout:)`` throws; what `body` throws, and then nothing has
  ///   changed.
  @discardableResult public func transaction<Result: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws(WormholeError) -> Result
  ) async throws(WormholeError) -> Result {
    try await writing(timeout) { (defaults) throws(WormholeError) in
      try defaults.transaction(body)
    }.get()
  }

  /// Reads and changes several values, by a body that may throw any error.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: reads and changes values. It must not take long: other processes wait for it.
  /// - Returns: what `body` returns.
  /// - Throws: what ``set(_:for:timeout:)`` throws; what `body` throws, and then nothing has
  ///   changed.
  @_disfavoredOverload @discardableResult public func transaction<Result: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await writing(timeout) { try $0.transaction(body) }.get()
  }
}
