// Changes messages without losing what others pass.

extension Wormhole {
  /// Changes the stored value while no other process can pass one, so that no change is lost.
  ///
  /// `nil` stands for no value, before and after. The body must not use the same name in other
  /// calls, which would wait for this one.
  ///
  /// - Parameters:
  ///   - name: a name whose transit is a coordinated ``FileTransit`` or a ``LogTransit``.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: changes the value. It runs on a thread where it may block. For an update that throws
  ///     ``WormholeError`` alone, a body with `try` states its errors:
  ///     `{ (value) throws(WormholeError) in … }`.
  /// - Returns: what the body returns.
  /// - Throws: ``WormholeError/notCoordinated`` if the transit does not support updates;
  ///   ``WormholeError/cancelled``, ``WormholeError/timedOut``; the error if the value cannot be
  ///   read; what the body throws. Nothing has changed then.
  @discardableResult public func update<Value, Result: Sendable>(
    _ name: MessageName<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value?) throws(WormholeError) -> Result
  ) async throws(WormholeError) -> Result {
    try await channel(name).write(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.update(name, body)
    }.get()
  }

  /// Changes the stored value while no other process can pass one, by a body that may throw any
  /// error.
  ///
  /// - Parameters:
  ///   - name: a name whose transit is a coordinated ``FileTransit`` or a ``LogTransit``.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: changes the value. It runs on a thread where it may block.
  /// - Returns: what the body returns.
  /// - Throws: ``WormholeError``; what the body throws. Nothing has changed then.
  @_disfavoredOverload @discardableResult public func update<Value, Result: Sendable>(
    _ name: MessageName<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value?) throws -> Result
  ) async throws -> Result {
    try await channel(name).write(timeout: timeout) { [blocking] in
      try blocking.update(name, body)
    }.get()
  }
}
