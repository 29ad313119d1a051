// Uses a database on the calling thread.

extension SharedDatabase {
  /// The functions that read and write, for code that is not asynchronous.
  public var blocking: Blocking { Blocking(database: self) }

  /// Reads and writes a database on the calling thread.
  ///
  /// The functions have the names, results and errors of those of ``SharedDatabase``, and no
  /// timeout. They block the thread, and an actor that runs on it, for as long as their bodies
  /// take, and writing for at most ten seconds more while others write. In the body of another call
  /// for the same file they throw ``WormholeError/nested``.
  ///
  ///     let soups = try database.blocking.read { try $0.rows("SELECT * FROM soup") }
  public struct Blocking: Sendable {
    fileprivate let database: SharedDatabase

    /// Reads a snapshot of the database.
    @available(*, noasync, message: "await read(_:) of the database")
    public func read<Value>(_ body: (borrowing Connection) throws -> Value) throws -> Value {
      try database.readNow(body)
    }

    /// Changes the database, all or nothing, and notifies its observers.
    @available(*, noasync, message: "await write(_:) of the database")
    @discardableResult public func write<Value>(
      _ body: (borrowing Connection) throws -> Value
    ) throws -> Value {
      try database.writeNow(body)
    }
  }
}
