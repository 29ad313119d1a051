// Passes and reads messages without blocking the threads of tasks.

extension Wormhole {
  /// Stores a value, then notifies all listeners.
  ///
  /// Files are written on another thread. If the task is cancelled or the time is up, nothing is
  /// stored, unless it has been by then.
  ///
  /// - Parameters:
  ///   - value: the value. Its encoded form has at most ``MessageLimits/payloadBytes`` bytes.
  ///   - name: the name to pass it to.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Returns: the number of the message among all of its name.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``. Except with ``WormholeError/notification``, nothing was stored.
  @discardableResult public func pass<Value>(
    _ value: Value, to name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> UInt64 {
    try await channel(name).write(timeout: timeout) { () throws(WormholeError) in
      try self.pass(value, to: name)
    }.get()
  }

  /// Notifies all listeners of a name without a value. What is stored stays.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Returns: the number of the ping among all messages of the name.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``.
  @discardableResult public func ping<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> UInt64 {
    try await channel(name).write(timeout: timeout) { () throws(WormholeError) in
      try self.ping(name)
    }.get()
  }

  /// Removes what is stored under a name, then notifies all listeners.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``.
  public func clear<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) {
    try await channel(name).write(timeout: timeout) { () throws(WormholeError) in
      try self.clear(name)
    }.get()
  }

  /// Returns the stored value.
  ///
  /// - Parameters:
  ///   - name: the name that it was passed to.
  ///   - timeout: how long to wait; `nil` waits ten seconds for writers.
  /// - Returns: the value, or `nil` if there is none.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``, also if what is stored cannot be read as such a value.
  public func message<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> Value? {
    try await channel(name).read(timeout: timeout) { () throws(WormholeError) in
      try self.message(name)
    }.get()
  }

  /// Returns the messages that are kept, without pings, in the order of their numbers.
  ///
  /// - Parameters:
  ///   - name: the name that they were passed to.
  ///   - sequence: the number after which to begin.
  ///   - timeout: how long to wait; `nil` waits ten seconds for writers.
  /// - Returns: at most one message with a transit of files, up to its limit with a ``LogTransit``.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, other
  ///   ``WormholeError``. A message that cannot be read is in the list, with its error.
  public func history<Value>(
    _ name: MessageName<Value>, since sequence: UInt64 = 0, timeout: Duration? = nil
  ) async throws(WormholeError) -> [Message<Value>] {
    try await channel(name).read(timeout: timeout) { () throws(WormholeError) in
      try self.history(name, since: sequence)
    }.get()
  }
}
