// Exchanges messages on the calling thread.

extension Wormhole {
  /// The functions that read and write messages, for code that is not asynchronous.
  public var blocking: Blocking { Blocking(store: store) }

  /// Reads and writes the messages of a wormhole on the calling thread.
  ///
  /// The functions have the names, results and errors of those of ``Wormhole``, and no timeout:
  /// they wait for at most ten seconds for another process that is writing. That blocks the thread.
  ///
  ///     try hole.blocking.pass(true, to: .lightState)
  public struct Blocking: Sendable {
    fileprivate let store: MessageStore

    /// Stores a value, then notifies all listeners.
    @available(*, noasync, message: "await hole.pass(_:to:) instead")
    @discardableResult public func pass<Value>(
      _ value: Value, to name: MessageName<Value>
    ) throws -> UInt64 {
      try store.pass(name.draft(value), to: name.rawValue)
    }

    /// Notifies all listeners of a name without a value. Stored messages stay.
    @available(*, noasync, message: "await hole.ping(_:) instead")
    @discardableResult public func ping<Value>(_ name: MessageName<Value>) throws -> UInt64 {
      try store.pass(name.draft(.ping), to: name.rawValue)
    }

    /// Returns the newest value.
    @available(*, noasync, message: "await hole.message(_:) instead")
    public func message<Value>(_ name: MessageName<Value>) throws -> Value? {
      try name.value(of: store.newest(of: name.rawValue))
    }

    /// Returns the messages that are kept, without pings, in the order of their numbers.
    @available(*, noasync, message: "await hole.history(_:since:) instead")
    public func history<Value>(
      _ name: MessageName<Value>, since number: UInt64 = 0
    ) throws -> [Message<Value>] {
      name.messages(try store.history(of: name.rawValue, after: number), since: number)
    }

    /// Changes the newest value, so that no change is lost.
    @available(*, noasync, message: "await hole.update(_:_:) instead")
    @discardableResult public func update<Value, Result>(
      _ name: MessageName<Value>, _ body: (inout Value?) throws -> Result
    ) throws -> Result {
      try store.update(name, body)
    }

    /// Removes everything stored under a name, then notifies all listeners.
    @available(*, noasync, message: "await hole.clear(_:) instead")
    public func clear<Value>(_ name: MessageName<Value>) throws {
      try store.pass(name.draft(.cleared), to: name.rawValue)
    }
  }
}
