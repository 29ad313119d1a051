// Reads and writes a database file on the thread that asks.

/// A database file with one connection to write and a few to read.
final class SQLiteStore: Sendable {
  /// The file, for errors.
  let path: String

  private let writers: SQLitePool
  private let readers: SQLitePool

  /// Makes a store. The file is opened when it is needed, made when something is written.
  ///
  /// - Parameters:
  ///   - file: the file.
  ///   - readers: how many threads can read at a time.
  ///   - prepare: is called with a connection to write before it is used.
  init(
    _ file: SQLiteFile, readers: Int = 2,
    prepare: @escaping @Sendable (SQLiteConnection) throws(WormholeError) -> Void = { _ in }
  ) {
    path = file.path
    writers = SQLitePool(path: file.path, capacity: 1) { () throws(WormholeError) in
      let connection = try file.openForWriting()
      try prepare(connection)
      return connection
    }
    self.readers = SQLitePool(path: file.path, capacity: readers) { () throws(WormholeError) in
      try file.openForReading()
    }
  }

  /// Runs a body that writes, while no other thread of this store does.
  func write<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    guard let value = try writers.use(body) else { throw .damaged(path: path) }
    return value
  }

  /// Runs a body that reads. Returns `nil` if there is no file.
  func read<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value? {
    try readers.use(body)
  }

  /// Runs a body that looks for something. Returns `nil` if it finds nothing, or there is no file.
  func find<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value?
  ) throws(WormholeError) -> Value? {
    try readers.use(body) ?? nil
  }
}
