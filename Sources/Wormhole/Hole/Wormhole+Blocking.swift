// Exchanges messages on the calling thread.

internal import FoundationEssentials
internal import Glibc

extension Wormhole {
  /// The functions that read and write messages, for code that is not asynchronous.
  public var blocking: Blocking { Blocking(hole: self) }

  /// Reads and writes the messages of a wormhole on the calling thread.
  ///
  /// The functions have the names and results of those of ``Wormhole``, and no timeout: they wait
  /// for at most ten seconds for another process that is writing the same name. That blocks the
  /// thread, and an actor that runs on it.
  ///
  ///     try hole.blocking.pass(true, to: .lightState)
  public struct Blocking: Sendable {
    fileprivate let hole: Wormhole

    /// Stores a value, then notifies all listeners.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - name: the name to pass it to.
    /// - Returns: the number of the message among all of its name.
    /// - Throws: ``WormholeError``. Except with ``WormholeError/notification``, nothing was stored.
    @discardableResult public func pass<Value>(
      _ value: Value, to name: MessageName<Value>
    ) throws(WormholeError) -> UInt64 {
      try hole.channel(name).send(.value(try name.encode(value)))
    }

    /// Notifies all listeners of a name without a value. Stored messages stay.
    ///
    /// - Parameter name: the name.
    /// - Returns: the number of the ping among all messages of the name.
    /// - Throws: ``WormholeError``.
    @discardableResult public func ping<Value>(
      _ name: MessageName<Value>
    ) throws(WormholeError) -> UInt64 {
      try hole.channel(name).send(.ping)
    }

    /// Returns the stored value.
    ///
    /// - Parameter name: the name that it was passed to.
    /// - Returns: the value, or `nil` if there is none.
    /// - Throws: ``WormholeError``, also if the stored value cannot be read as this type.
    public func message<Value>(_ name: MessageName<Value>) throws(WormholeError) -> Value? {
      try name.value(of: try hole.channel(name).mailbox.lastMessage())
    }

    /// Returns the messages that are kept, without pings, in the order of their numbers.
    ///
    /// - Parameters:
    ///   - name: the name that they were passed to.
    ///   - number: the number after which to begin.
    /// - Returns: what ``Wormhole/history(_:since:timeout:)`` returns.
    /// - Throws: ``WormholeError``. A message that cannot be read is in the list, with its error.
    public func history<Value>(
      _ name: MessageName<Value>, since number: UInt64 = 0
    ) throws(WormholeError) -> [Message<Value>] {
      try name.history(in: try hole.channel(name).mailbox, since: number)
    }

    /// Changes the stored value while no other process can pass one, so that no change is lost.
    ///
    /// - Parameters:
    ///   - name: a name whose transit is a coordinated ``FileTransit`` or a ``LogTransit``.
    ///   - body: changes the value. For an update that throws ``WormholeError`` alone, a body with
    ///     `try` states its errors: `{ (value) throws(WormholeError) in … }`.
    /// - Returns: what the body returns.
    /// - Throws: what the asynchronous form throws. Nothing has changed then.
    @discardableResult public func update<Value, Result>(
      _ name: MessageName<Value>, _ body: (inout Value?) throws(WormholeError) -> Result
    ) throws(WormholeError) -> Result {
      try hole.channel(name).update { (newest) throws(WormholeError) in
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
      try hole.channel(name).update { newest in
        var value = try name.value(of: newest)
        let result = try body(&value)
        return (try name.record(of: value, after: newest), result)
      }.get()
    }

    /// Removes everything stored under a name, then notifies all listeners.
    ///
    /// - Parameter name: the name.
    /// - Throws: ``WormholeError``.
    public func clear<Value>(_ name: MessageName<Value>) throws(WormholeError) {
      _ = try hole.channel(name).send(.cleared)
    }
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

extension Wormhole.Blocking {
  /// Removes everything stored under all names, then notifies all listeners.
  ///
  /// - Throws: what ``Wormhole/clearAll(timeout:)`` throws.
  public func clearAll() throws(WormholeError) {
    var failures: [String: WormholeError] = [:]
    for (name, transit) in try storedNames() {
      do throws(WormholeError) {
        _ = try hole.channel(name, transit).send(.cleared)
      } catch {
        try WorkLimit.check()
        failures[name] = error
      }
    }
    guard failures.isEmpty else { throw .notCleared(failures) }
  }

  private func storedNames() throws(WormholeError) -> [(String, any MessageTransit)] {
    // Neither durability nor limits matter for the names of a transit.
    var transits: [any MessageTransit] = [hole.transit]
    if !(hole.transit is FileTransit) { transits.append(.file) }
    if !(hole.transit is LogTransit) { transits.append(.log) }
    var names: [(String, any MessageTransit)] = []
    for transit in transits {
      names += try transit.names(in: hole.directory).map { ($0, transit) }
    }
    return names
  }

  /// Removes a name with all its files, of every transit, damaged or not.
  ///
  /// - Parameter name: the name.
  /// - Throws: what ``Wormhole/remove(_:timeout:)`` throws.
  public func remove<Value>(_ name: MessageName<Value>) throws(WormholeError) {
    let channel = try hole.channel(name)
    hole.forget(name.rawValue)
    let base = FileName(for: name.rawValue).text
    let cursors = cursorFiles(base) + listedCursorFiles(channel, name.rawValue)
    let suffixes = [
      FileSuffix.message, "\(FileSuffix.message).new", FileSuffix.mailbox, FileSuffix.log,
      "\(FileSuffix.log)-wal", "\(FileSuffix.log)-shm",
    ]
    for file in suffixes.map({ base + $0 }) + cursors {
      let path = "\(hole.home.path)/\(file)"
      guard unlink(path) == 0 || errno == ENOENT else { throw .system(code: errno, path: path) }
    }
    try channel.center.notify(channel.changeName)
  }

  /// Returns the lock files of the cursors of a name, except cursors with long names.
  private func cursorFiles(_ base: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: hole.home.path)) ?? []
    return files.filter { $0.hasPrefix("\(base)%00") && $0.hasSuffix(FileSuffix.cursor) }
  }

  /// Returns the lock files of the cursors that the log of a name knows, unless it is damaged.
  private func listedCursorFiles(_ channel: Channel, _ name: String) -> [String] {
    ((try? channel.mailbox.cursors()) ?? []).map { LogCursor.fileName($0.name, of: name) }
  }

  /// Returns the cursors of a name, with how far they are behind.
  ///
  /// - Parameter name: the name.
  /// - Returns: the cursors, in the order of their names.
  /// - Throws: ``WormholeError/noCursors`` with a transit of files, other ``WormholeError``.
  public func cursors<Value>(
    of name: MessageName<Value>
  ) throws(WormholeError) -> [Wormhole.Cursor] {
    try hole.channel(name).mailbox.cursors()
  }

  /// Removes a cursor. If it does not exist, nothing happens.
  ///
  /// - Parameters:
  ///   - cursor: the name of the cursor.
  ///   - name: the name that it belongs to.
  /// - Throws: ``WormholeError/cursorInUse``, ``WormholeError/noCursors``, other
  ///   ``WormholeError``.
  public func removeCursor<Value>(
    _ cursor: String, of name: MessageName<Value>
  ) throws(WormholeError) {
    try hole.channel(name).mailbox.removeCursor(cursor)
  }
}
