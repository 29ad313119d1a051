// Presents the changes of a database as a sequence.

internal import DarwinNotify
public import FoundationEssentials

extension SharedDatabase {
  /// What one commit has changed.
  public struct Change: Hashable, Sendable {
    /// The tables with a change.
    public let tables: Set<String>

    /// The row ids of the rows that were inserted, updated or deleted, for each table that has row
    /// ids. A table that was dropped has none either.
    public let rowIDs: [String: Set<Int64>]

    /// The place of the change: to go on behind it later.
    public let token: Int64

    /// Who made the change; `nil` if it was made without this library, where several commits count
    /// as one.
    public let sender: Wormhole.Sender?

    /// When the change was made, by the clock of its sender.
    public let date: Date?

    /// False if more has changed than is still known: all tables may have, in any row.
    public let isComplete: Bool
  }

  /// Returns the changes of tables, one for each commit, those by this process too.
  ///
  /// They come from the database itself: none is lost, also if nobody is listening for a while, as
  /// long as it is among the last 100 000 changed rows. A change that is reported can be read. No
  /// change after the return is missed, however late the iteration begins. It reads the token on
  /// the calling thread, if none is given.
  ///
  /// - Parameters:
  ///   - tables: the names of the tables; none for all.
  ///   - token: a place from ``token`` or a change, to begin behind; `nil` for now. One of which
  ///     the next changes are no longer known yields a change that is not complete.
  /// - Returns: the sequence. An error does not end an iteration: the next call looks again.
  /// - Throws: ``WormholeError/notification(_:)`` if it is not possible to listen, what
  ///   ``read(_:)`` throws.
  public func changes(
    in tables: String..., since token: Int64? = nil
  ) throws(WormholeError) -> Changes {
    let notifications = try center.notifications(of: changeName)
    let start = if let token { token } else { try tokenNow() }
    return Changes(
      database: self, tables: Set(tables.map { $0.lowercased() }), notifications: notifications,
      start: start)
  }

  /// The changes of a database.
  public struct Changes: AsyncSequence, Sendable {
    /// What the sequence is made of.
    public typealias Element = Change

    /// What can go wrong.
    public typealias Failure = WormholeError

    fileprivate let database: SharedDatabase
    fileprivate let tables: Set<String>
    fileprivate let notifications: Notifications
    fileprivate let start: Int64

    /// Begins an iteration, which sees all that has changed since the sequence was made.
    ///
    /// - Returns: an iterator, for one task.
    public func makeAsyncIterator() -> Iterator {
      Iterator(
        database: database, tables: tables, notifications: notifications.makeAsyncIterator(),
        token: start)
    }

    /// An iteration over the changes of a database. It keeps nothing but its place.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let database: SharedDatabase
      fileprivate let tables: Set<String>
      fileprivate var notifications: Notifications.Iterator
      fileprivate var token: Int64

      /// Waits for the next change.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the change, or `nil` once the task is cancelled.
      /// - Throws: what ``SharedDatabase/read(_:)`` throws.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(WormholeError) -> Change? {
        while !Task.isCancelled {
          let found = try await database.change(after: token, in: tables)
          token = found.token
          if let change = found.change { return change }
          guard await notifications.next(isolation: actor) != nil else { break }
        }
        return nil
      }
    }
  }
}

/// An iterator belongs to one task.
@available(*, unavailable)
extension SharedDatabase.Changes.Iterator: Sendable {}
