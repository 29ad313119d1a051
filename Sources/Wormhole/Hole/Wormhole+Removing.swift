// Removes what a wormhole has stored.

extension Wormhole {
  /// Removes everything stored under all names, then notifies all listeners.
  ///
  /// Only messages are removed: those of this library's transits and of the wormhole's own. Other
  /// files in the directory stay.
  ///
  /// - Parameter timeout: how long the whole may take; `nil` waits ten seconds for the other
  ///   writers of each name.
  /// - Throws: ``WormholeError/notCleared`` with the messages that could not be cleared, say
  ///   because their files are damaged, which ``remove(_:timeout:)`` repairs; all others are.
  ///   ``WormholeError/cancelled`` or ``WormholeError/timedOut`` if some may not have been cleared
  ///   yet. Other ``WormholeError`` if the directory cannot be read.
  ///
  /// The corresponding method of MMWormhole is `clearAllMessageContents`.
  public func clearAll(timeout: Duration? = nil) async throws(WormholeError) {
    try await clearing.run(on: home.path, timeout: timeout) { [blocking] in
      Result { () throws(WormholeError) in try blocking.clearAll() }
    }.get()
  }

  /// Removes a name with all its files, of every transit, damaged or not.
  ///
  /// The next message gets the number 1 again, and may use another transit. Cursors are removed,
  /// too. Listeners stay; they get what is passed later. A message that another process passes
  /// meanwhile may be lost.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait for this wormhole's own writers; `nil` for no limit.
  /// - Throws: ``WormholeError/cancelled``, ``WormholeError/timedOut``, ``WormholeError/system``,
  ///   ``WormholeError/notification`` if everything is removed but listeners could not be notified;
  ///   ``WormholeError/invalidIdentifier``.
  public func remove<Value>(
    _ name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) {
    try await channel(name).write(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.remove(name)
    }.get()
  }

  /// Returns the cursors of a name, with how far they are behind.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - timeout: how long to wait; `nil` waits ten seconds for writers.
  /// - Returns: the cursors, in the order of their names.
  /// - Throws: ``WormholeError/noCursors`` with a transit of files,
  ///   ``WormholeError/cancelled``, ``WormholeError/timedOut``, other ``WormholeError``.
  public func cursors<Value>(
    of name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) -> [Cursor] {
    try await channel(name).read(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.cursors(of: name)
    }.get()
  }

  /// Removes a cursor. If it does not exist, nothing happens.
  ///
  /// - Parameters:
  ///   - cursor: the name of the cursor.
  ///   - name: the name that it belongs to.
  ///   - timeout: how long to wait; `nil` waits ten seconds for other writers.
  /// - Throws: ``WormholeError/cursorInUse``, ``WormholeError/noCursors``,
  ///   ``WormholeError/cancelled``, ``WormholeError/timedOut``, other ``WormholeError``.
  public func removeCursor<Value>(
    _ cursor: String, of name: MessageName<Value>, timeout: Duration? = nil
  ) async throws(WormholeError) {
    try await channel(name).write(timeout: timeout) { [blocking] () throws(WormholeError) in
      try blocking.removeCursor(cursor, of: name)
    }.get()
  }
}
