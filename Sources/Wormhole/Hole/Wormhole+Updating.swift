// Changes messages without losing what others pass.

extension Wormhole {
  /// Changes the stored value while no other process can pass one, so that no change is lost.
  ///
  /// `nil` stands for no value, before and after. The body must not use the same name in other
  /// calls, which would wait for this one.
  ///
  /// - Parameters:
  ///   - name: a name whose transit is a coordinated ``FileTransit`` or a ``LogTransit``.
  ///   - body: changes the value. For an update that throws ``WormholeError`` alone, a body with
  ///     `try` states its errors: `{ (value) throws(WormholeError) in … }`.
  /// - Returns: what the body returns.
  /// - Throws: ``WormholeError/notCoordinated`` if the transit does not support
  ///   updates; the error if the value cannot be read; what the body throws. Nothing has changed
  ///   then.
  @discardableResult public func update<Value, Result>(
    _ name: MessageName<Value>, _ body: (inout Value?) throws(WormholeError) -> Result
  ) throws(WormholeError) -> Result {
    try channel(name).update { (newest) throws(WormholeError) in
      var value = try name.value(of: newest)
      let result = try body(&value)
      return (try name.record(of: value, after: newest), result)
    }.get()
  }

  /// Changes the stored value while no other process can pass one, by a body that may throw any
  /// error.
  ///
  /// - Parameters:
  ///   - name: a name whose transit is a coordinated ``FileTransit`` or a ``LogTransit``.
  ///   - body: changes the value.
  /// - Returns: what the body returns.
  /// - Throws: ``WormholeError``; what the body throws. Nothing has changed then.
  @_disfavoredOverload @discardableResult public func update<Value, Result>(
    _ name: MessageName<Value>, _ body: (inout Value?) throws -> Result
  ) throws -> Result {
    try channel(name).update { newest in
      var value = try name.value(of: newest)
      let result = try body(&value)
      return (try name.record(of: value, after: newest), result)
    }.get()
  }

  /// Changes the stored value while no other process can pass one, without blocking the thread of
  /// the task.
  ///
  /// - Parameters:
  ///   - name: a name whose transit is a coordinated ``FileTransit`` or a ``LogTransit``.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  ///   - body: changes the value. It runs on a thread where it may block.
  /// - Returns: what the body returns.
  /// - Throws: what the update outside of a task throws; ``WormholeError/cancelled``,
  ///   ``WormholeError/timedOut``. Nothing has changed then.
  @discardableResult public func update<Value, Result: Sendable>(
    _ name: MessageName<Value>, timeout: Duration? = nil,
    _ body: @escaping @Sendable (inout Value?) throws(WormholeError) -> Result
  ) async throws(WormholeError) -> Result {
    try await channel(name).write(timeout: timeout) { () throws(WormholeError) in
      try self.update(name, body)
    }.get()
  }

  /// Changes the stored value while no other process can pass one, by a body that may throw any
  /// error, without blocking the thread of the task.
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
    try await channel(name).write(timeout: timeout) { try self.update(name, body) }.get()
  }
}

extension MessageName {
  /// The record that an update appends, `nil` for none.
  fileprivate func record(
    of value: Value?, after newest: Wormhole.NumberedRecord?
  ) throws(WormholeError) -> Wormhole.Record? {
    if let value { return Wormhole.Record(.value(try encode(value))) }
    return newest.map { _ in Wormhole.Record(.cleared) }
  }
}
