// Uses a database on the calling thread.

extension SharedDatabase {
  /// The functions that read and write, for code that is not asynchronous.
  public var blocking: Blocking { Blocking(database: self) }

  /// Reads and writes a database on the calling thread.
  ///
  /// The functions have the names and results of those of ``SharedDatabase``, and no timeout. They
  /// block the thread, and an actor that runs on it, for as long as their bodies take, and writing
  /// for at most ten seconds more while others write.
  ///
  ///     let soups = try database.blocking.read { try $0.rows("SELECT * FROM soup") }
  public struct Blocking: Sendable {
    fileprivate let database: SharedDatabase

    /// Reads a snapshot of the database.
    ///
    /// - Parameter body: what to do; an attempt to change something is an error.
    /// - Returns: what `body` returns.
    /// - Throws: what ``SharedDatabase/read(timeout:_:)`` throws.
    public func read<Value>(_ body: (borrowing Connection) throws -> Value) throws -> Value {
      try database.snapshotNow { connection in
        try connection.withoutLimit { try body(Connection(connection)) }
      }
    }

    /// Changes the database, all or nothing, and notifies its observers.
    ///
    /// - Parameter body: what to do. All who write wait for it; inside it, another `write` of this
    ///   database throws ``WormholeError/busy``.
    /// - Returns: what `body` returns. The changes are then committed and visible to all.
    /// - Throws: what ``SharedDatabase/write(timeout:_:)`` throws.
    @discardableResult public func write<Value>(
      _ body: (borrowing Connection) throws -> Value
    ) throws -> Value {
      try database.writeNow(body)
    }

    /// The position of the last change, from which ``SharedDatabase/changes(in:since:)`` can go on.
    ///
    /// - Throws: what reading throws.
    public var token: Int64 {
      get throws(WormholeError) { try database.position().token }
    }
  }
}
