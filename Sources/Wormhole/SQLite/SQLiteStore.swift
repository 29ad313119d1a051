// Accesses a database file.

/// A database file with one connection for writing and a few for reading.
final class SQLiteStore: Sendable {
  /// The file, for errors.
  let path: String

  /// The only connection that writes.
  let writers: SQLitePool

  /// The connections that read.
  let readers: SQLitePool

  /// Creates a store. The file is opened when needed, and created when something is written.
  ///
  /// - Parameters:
  ///   - file: the file.
  ///   - readers: the number of threads that can read at a time.
  ///   - idle: keeps the unused connections; if `nil`, all of them are kept.
  ///   - prepare: prepares each new connection for writing.
  init(
    _ file: SQLiteFile, readers: Int = 2, idle: IdleConnections? = nil,
    prepare: @escaping @Sendable (SQLiteConnection) throws(WormholeError) -> Void = { _ in }
  ) {
    path = file.path
    let idle = idle ?? IdleConnections(limit: readers + 1)
    writers = SQLitePool(path: file.path, capacity: 1, idle: idle) {
      (wait) throws(WormholeError) in
      let connection = try file.openForWriting(wait)
      try prepare(connection)
      return connection
    }
    self.readers = SQLitePool(path: file.path, capacity: readers, idle: idle) {
      (wait) throws(WormholeError) in
      try file.openForReading(wait)
    }
  }

  /// Runs a body that writes, while no other thread of this store does.
  func write<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    let value = try writers.use { (connection) throws(WormholeError) in
      try connection.limitWriteAheadLog()
      return try body(connection)
    }
    guard let value else { throw .damaged(path: path) }
    return value
  }

  /// Runs a body that reads. Returns `nil` if there is no file.
  func read<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try readers.use(body)
  }

  /// Runs a body that searches. Returns `nil` if it finds nothing, or there is no file.
  func find<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value?
  ) throws(WormholeError) -> Value? {
    try readers.use(body) ?? nil
  }
}
