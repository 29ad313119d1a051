// Removes what a wormhole has stored.

extension Wormhole {
  /// Removes everything stored under all names, then notifies all listeners.
  ///
  /// - Throws: ``WormholeError``. Some names may have been cleared.
  ///
  /// The corresponding method of MMWormhole is `clearAllMessageContents`.
  public func clearAll() async throws {
    try await store.run(.writing) { [store] (limit) throws(WormholeError) in
      _ = try store.clearAll(within: limit)
    }
  }

  /// Sets how many messages a name keeps, more or fewer than before, and removes the others. Nobody
  /// is notified.
  ///
  /// - Parameters:
  ///   - keep: how many messages to keep.
  ///   - name: the name. Its own `keep` applies again when a message is passed.
  /// - Throws: ``WormholeError``.
  public func setKeep<Value>(_ keep: Keep, of name: MessageName<Value>) async throws {
    try await store.run(.writing) { [store] (limit) throws(WormholeError) in
      try store.setKeep(keep.count, of: name.rawValue, within: limit)
    }
  }

  /// Removes the messages and the cursors of a name, then notifies all listeners.
  ///
  /// Its numbers continue, and it keeps only the newest message again, unless more is requested.
  ///
  /// - Parameter name: the name.
  /// - Throws: ``WormholeError/cursorInUse`` while a reader has a cursor of the name; other
  ///   ``WormholeError``.
  public func remove<Value>(_ name: MessageName<Value>) async throws {
    try await store.run(.writing) { [store] (limit) throws(WormholeError) in
      for cursor in try store.cursors(of: name.rawValue, within: limit) {
        try store.removeCursor(cursor.name, of: name.rawValue, within: limit)
      }
      try store.clear(name.rawValue, within: limit)
      try store.setKeep(1, of: name.rawValue, within: limit)
    }
  }

  /// Moves a damaged file away: its messages are lost, and so are those that other processes pass
  /// meanwhile. Numbers begin at 1 again.
  ///
  /// The file stays beside the new one with the ending `.damaged`, replacing any earlier one.
  /// Listeners stay; their next message has ``Message/mayHaveMissed``.
  ///
  /// - Throws: ``WormholeError/system``.
  public func startAnew() async throws {
    try await store.run(.writing) { [store] (_) throws(WormholeError) in try store.startAnew() }
  }

  // MARK: Cursors

  /// Returns the cursors of a name, with how far they are behind.
  ///
  /// - Parameter name: the name.
  /// - Returns: the cursors, in the order of their names.
  /// - Throws: ``WormholeError``.
  public func cursors<Value>(of name: MessageName<Value>) async throws -> [Cursor] {
    try await store.run(.reading) { [store] (limit) throws(WormholeError) in
      try store.cursors(of: name.rawValue, within: limit).map {
        Cursor(name: $0.name, sequence: $0.number, lag: $0.lag)
      }
    }
  }

  /// Removes a cursor. If it does not exist, nothing happens.
  ///
  /// - Parameters:
  ///   - cursor: the name of the cursor.
  ///   - name: the name that it belongs to.
  /// - Throws: ``WormholeError/cursorInUse``, other ``WormholeError``.
  public func removeCursor<Value>(
    _ cursor: String, of name: MessageName<Value>
  ) async throws {
    try await store.run(.writing) { [store] (limit) throws(WormholeError) in
      try store.removeCursor(cursor, of: name.rawValue, within: limit)
    }
  }
}
