// Presents the changes of a database as a sequence.

internal import DarwinNotify
public import FoundationEssentials

extension SharedDatabase {
  /// The changes made by one commit.
  public struct Change: Hashable, Sendable {
    /// The changed tables.
    public let tables: Set<String>

    /// The row ids of inserted, updated and deleted rows, for each table with row ids. A dropped
    /// table has none.
    public let rowIDs: [String: Set<Int64>]

    /// The kind of change of a row.
    public enum Kind: Hashable, Sendable, CaseIterable {
      /// It was not there before.
      case inserted

      /// It was there before and still is: updated, or replaced by another of the same row id.
      case updated

      /// It is no longer there.
      case deleted
    }

    /// The effect of the whole commit on its rows, for each table with row ids.
    ///
    /// A row that the commit has both inserted and deleted has no kind. The same is true of the
    /// rows of a table whose triggers another program had dropped.
    public let kinds: [String: [Int64: Kind]]

    /// Returns the row ids of the changes of one kind.
    ///
    /// - Parameters:
    ///   - kind: the kind.
    ///   - table: the name of the table, in upper or lower case.
    /// - Returns: the row ids in ``kinds`` that have it.
    public func rowIDs(_ kind: Kind, in table: String) -> Set<Int64> {
      let name = table.lowercased()
      var rows: Set<Int64> = []
      for (table, kinds) in kinds where table.lowercased() == name {
        rows.formUnion(kinds.keys.filter { kinds[$0] == kind })
      }
      return rows
    }

    /// The position of the change, from which to continue later.
    public let token: Int64

    /// The process that made the change; `nil` for changes made without this library, several
    /// commits of which count as one.
    public let sender: Wormhole.Sender?

    /// When the change was made, by the clock of its sender.
    public let date: Date?

    /// False if older changes are no longer known: any row of any table may have changed.
    public let isComplete: Bool
  }

  /// Returns the changes of tables, one for each commit, including those of this process.
  ///
  /// The changes are recorded in the database itself: none is lost, even while nobody listens, as
  /// long as it is among the last 100 000 changed rows. A reported change can be read. No change
  /// after this call is missed, however late the iteration begins. The names, and the token if none
  /// is given, are looked up on the calling thread.
  ///
  /// - Parameters:
  ///   - tables: the names of the tables; none for all.
  ///   - token: a position from ``token`` or a change, to begin after; `nil` for now. If the
  ///     changes that follow it are no longer known, the first one delivered is not complete.
  /// - Returns: the sequence. An error does not end an iteration: the next call looks again.
  /// - Throws: ``WormholeError/unknownTable`` for a table that does not exist, or
  ///   whose changes are not recorded, ``WormholeError/notification`` if it is not possible to
  ///   listen, what ``read(timeout:_:)`` throws.
  public func changes(
    in tables: [String] = [], since token: Int64? = nil
  ) throws(WormholeError) -> Changes {
    let notifications = try center.notifications(of: changeName)
    let (now, names) = try position(in: tables)
    return Changes(
      database: self, tables: names, notifications: notifications, start: token ?? now)
  }

  /// The changes of a database.
  public struct Changes: AsyncSequence, Sendable {
    /// The type of the sequence's elements.
    public typealias Element = Change

    /// The errors of the sequence.
    public typealias Failure = WormholeError

    fileprivate let database: SharedDatabase
    fileprivate let tables: Set<String>
    fileprivate let notifications: Notifications
    fileprivate let start: Int64

    /// Begins an iteration, which sees all changes since the sequence was created.
    ///
    /// - Returns: an iterator, for one task.
    public func makeAsyncIterator() -> Iterator {
      Iterator(
        database: database, tables: tables, notifications: notifications.makeAsyncIterator(),
        token: start)
    }

    /// An iteration over the changes of a database. Its only state is its position.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let database: SharedDatabase
      fileprivate let tables: Set<String>
      fileprivate var notifications: Notifications.Iterator
      fileprivate var token: Int64

      /// Waits for the next change.
      ///
      /// - Parameter actor: the isolation of the caller.
      /// - Returns: the change, or `nil` once the task is cancelled.
      /// - Throws: what ``SharedDatabase/read(timeout:_:)`` throws.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws(WormholeError) -> Change? {
        while !Task.isCancelled {
          let found: (change: Change?, token: Int64)
          do throws(WormholeError) {
            found = try await database.change(after: token, in: tables)
          } catch .cancelled {
            break
          }
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
