// Reports the results of a query.

internal import DarwinNotify

extension SharedDatabase {
  /// Returns the results of a query: the current one, then each that differs from the previous one.
  ///
  /// The query is run again when any program changes the file, even without this library: soon
  /// after a commit by this library, a tenth of a second after any other. Of several changes
  /// between two results, only the last is seen: a result is a state, not a history. Each result
  /// comes from one snapshot. No change after this call is missed, however late the iteration
  /// begins. The query runs where it may block.
  ///
  ///     let dishes = try database.values { try $0.rows("SELECT * FROM dish", as: Dish.self) }
  ///     for try await dishes in dishes { show(dishes) }
  ///
  /// - Parameter query: reads the database.
  /// - Returns: the sequence. What the query throws, such as ``WormholeError/database`` with the
  ///   statement that failed, ends an iteration.
  /// - Throws: ``WormholeError/notification`` if it is not possible to listen.
  public func values<Value: Equatable & Sendable>(
    _ query: @escaping @Sendable (borrowing Connection) throws -> Value
  ) throws -> StoredSequence<Value> {
    let (center, changeName, path) = (center, changeName, path)
    return try StoredSequence(
      StoredFeed(
        path: path, queues: queues,
        observe: { (handler) throws(WormholeError) in
          NotificationObservation(
            try DatabaseWatch(of: path, try center.observe(changeName, handler), handler))
        },
        makeReader: { () throws(WormholeError) in ValueReader(database: self, query: query) }))
  }
}

/// The last result of a query.
private struct ValueReader<Value: Equatable & Sendable>: StoredReader {
  let database: SharedDatabase
  let query: @Sendable (borrowing SharedDatabase.Connection) throws -> Value
  private var last: Value?

  init(
    database: SharedDatabase,
    query: @escaping @Sendable (borrowing SharedDatabase.Connection) throws -> Value
  ) {
    (self.database, self.query) = (database, query)
  }

  mutating func read(within limit: WorkLimit?) throws -> StoredPage<Value> {
    let value = try database.readNow(within: limit, query)
    guard value != last else { return StoredPage() }
    last = value
    return StoredPage(elements: [(1, value)])
  }
}
