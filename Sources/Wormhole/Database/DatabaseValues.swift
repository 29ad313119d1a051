// Presents the results of a query as a sequence.

internal import DarwinNotify

extension SharedDatabase {
  /// Returns the results of a query: the current one, then another after each change to its tables.
  ///
  /// Changes by any process count, this one included. Of several changes between two results only
  /// the last is seen: a result is a state, not a history. Each result is that of one snapshot. No
  /// change after this call is missed, however late the iteration begins. The names of the tables
  /// are looked up on the calling thread; the query runs where it may block.
  ///
  ///     let query: @Sendable (borrowing SharedDatabase.Connection) throws -> [Dish] = {
  ///       try $0.rows("SELECT * FROM dish", as: Dish.self)
  ///     }
  ///     for try await dishes in try database.values(in: ["dish"], query: query) { show(dishes) }
  ///
  /// - Parameters:
  ///   - tables: the names of the tables that the query reads; none for the whole database.
  ///   - timeout: how long each result may take; `nil` for no limit.
  ///   - query: reads the database. It is run again for each result.
  /// - Returns: the sequence. What the query throws, such as
  ///   ``WormholeError/database`` with the statement that failed, ends an iteration.
  /// - Throws: what ``changes(in:since:)`` throws.
  public func values<Value: Sendable>(
    in tables: [String] = [], timeout: Duration? = nil,
    query: @escaping @Sendable (borrowing Connection) throws -> Value
  ) throws(WormholeError) -> Values<Value> {
    let notifications = try center.notifications(of: changeName)
    return Values(
      database: self, tables: try position(in: tables).tables, notifications: notifications,
      timeout: timeout, query: query)
  }

  /// The results of a query.
  public struct Values<Value: Sendable>: AsyncSequence, Sendable {
    /// The type of the sequence's elements.
    public typealias Element = Value

    /// The errors of the sequence: those of the query, and those of reading.
    public typealias Failure = any Error

    fileprivate let database: SharedDatabase
    fileprivate let tables: Set<String>
    fileprivate let notifications: Notifications
    fileprivate let timeout: Duration?
    fileprivate let query: @Sendable (borrowing Connection) throws -> Value

    /// Begins an iteration, with the result of that moment.
    ///
    /// - Returns: an iterator, for one task.
    public func makeAsyncIterator() -> Iterator {
      Iterator(sequence: self, notifications: notifications.makeAsyncIterator())
    }

    /// An iteration over the results of a query. Its only state is the position of the last result.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let sequence: Values
      fileprivate var notifications: Notifications.Iterator
      private var token: Int64?
      private var isOver = false

      fileprivate init(sequence: Values, notifications: Notifications.Iterator) {
        self.sequence = sequence
        self.notifications = notifications
      }

      /// Waits for the next result.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the result, or `nil` once the task is cancelled, or after an error.
      /// - Throws: what the query throws, what ``SharedDatabase/read(timeout:_:)`` throws.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws -> Value? {
        while !isOver, !Task.isCancelled {
          do {
            let (value, position) = try await sequence.value(after: token)
            token = position
            if let value { return value }
          } catch {
            isOver = true
            guard !Task.isCancelled else { return nil }
            throw error
          }
          guard await notifications.next(isolation: actor) != nil else { break }
        }
        return nil
      }
    }

    /// Runs the query if its tables may have changed after a position. Returns the new position.
    fileprivate func value(after token: Int64?) async throws -> (value: Value?, position: Int64) {
      try await database.snapshot(timeout: timeout) { [tables, query] database in
        let log = ChangeLog(in: database)
        let position = try log.lastID()
        if let token, try !log.hasChanged(after: token, in: tables) { return (nil, position) }
        return (try database.withoutLimit { try query(Connection(database)) }, position)
      }
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension SharedDatabase.Values.Iterator: Sendable {}
