// Reports the commits of a database.

internal import DarwinNotify
public import DarwinNotifySupport
public import FoundationEssentials

extension SharedDatabase {
  /// The changes made by one commit of a program that uses this library.
  public struct Change: Hashable, Sendable {
    /// The number of the commit in the database, counted from 1 without gaps.
    public let sequence: UInt64

    /// The changed tables. For a virtual table, those in which it keeps its data.
    public let tables: Set<String>

    /// The row ids of the rows that may have changed: inserted, updated, deleted, or changed and
    /// restored. If a table is missing here, any of its rows may have changed: the table has no row
    /// ids, or the commit changed more than 256 rows.
    public let rowIDs: [String: Set<Int64>]

    /// False if the tables are not known: any row of any table may have changed. The commit has
    /// changed the schema, or SQLite was built without the function that reports rows.
    public let isComplete: Bool

    /// The process that made the commit.
    public let sender: Sender

    /// When the commit was made.
    public let date: Date

    /// Whether earlier commits are no longer recorded, so that everything must be read again: they
    /// were not among the last 10 000, or the file was replaced.
    public internal(set) var mayHaveMissed = false
  }

  /// Returns the changes of tables, one for each commit, including those of this process.
  ///
  /// They are read from the database, in which each commit leaves a record: none is lost, even
  /// while nobody listens. Once a change is reported, it can be read. No change after this call is
  /// missed, however late the iteration begins. The names are looked up on the calling thread.
  ///
  /// Changes made without this library are not recorded, but ``values(_:)`` notices them.
  ///
  ///     for try await change in try database.changes(in: ["dish"]) {
  ///       guard change.isComplete, !change.mayHaveMissed else { reload(); continue }
  ///       update(change.rowIDs["dish"])
  ///     }
  ///
  /// - Parameters:
  ///   - tables: the names of the tables; empty for all.
  ///   - sequence: the number of a commit, from ``Change/sequence`` or ``Connection/lastCommit``,
  ///     to begin after; `nil` for now.
  /// - Returns: the sequence. A change that is not complete is delivered for all tables.
  /// - Throws: ``WormholeError/unknownTable`` for a table that does not exist, for views and for
  ///   virtual tables; ``WormholeError/notification`` if it is not possible to listen; what
  ///   ``read(timeout:_:)`` throws.
  public func changes(
    in tables: [String] = [], since sequence: UInt64? = nil
  ) throws -> StoredSequence<Change> {
    let (center, changeName) = (center, changeName)
    return try StoredSequence(
      StoredFeed(
        path: path, queues: queues,
        observe: { (handler) throws(WormholeError) in try center.observe(changeName, handler) },
        makeReader: { () throws(WormholeError) in
          try CommitReader(self, in: tables, since: sequence)
        }))
  }
}

/// A position among the commits of a database.
private struct CommitReader: StoredReader {
  private let database: SharedDatabase

  /// In lower case; the empty set stands for all.
  private let tables: Set<String>
  private(set) var position: StoredPosition
  private var mayHaveMissed = false

  private static let pageSize = 64

  init(
    _ database: SharedDatabase, in tables: [String], since sequence: UInt64?
  ) throws(WormholeError) {
    self.database = database
    self.tables = Set(tables.map { $0.lowercased() })
    position = try database.look(within: nil) { (connection) throws(WormholeError) in
      try connection.check(tables)
      return StoredPosition(
        number: UInt64(try CommitLog(database: connection).last()), identity: connection.identity)
    }
    guard let sequence else { return }
    // A number that is too high comes from a file that has been removed.
    mayHaveMissed = sequence > position.number
    position.number = mayHaveMissed ? 0 : sequence
  }

  mutating func read(within limit: WorkLimit?) throws -> StoredPage<SharedDatabase.Change> {
    let found = position
    let (last, changes, identity) = try database.look(within: limit) {
      (connection) throws(WormholeError) in
      let (log, identity) = (CommitLog(database: connection), connection.identity)
      let last = try log.last()
      let start =
        if identity != found.identity { Int64(0) } else {
          // If the file was reset to an earlier state, at least its last commit is new.
          last < found.number ? last - 1 : Int64(found.number)
        }
      let changes = try log.commits(after: max(0, start), limit: Self.pageSize)
      return (UInt64(last), changes, identity)
    }
    if identity != position.identity || last < position.number {
      (position, mayHaveMissed) = (StoredPosition(identity: identity), true)
    }
    return StoredPage(
      elements: changes.map { element($0) }[...], hasMore: position.number < last)
  }

  private mutating func element(
    _ change: SharedDatabase.Change
  ) -> (number: UInt64, element: SharedDatabase.Change?) {
    if change.sequence != position.number + 1 { mayHaveMissed = true }
    position.number = change.sequence
    var change = change
    change.mayHaveMissed = mayHaveMissed
    let isWanted =
      tables.isEmpty || !change.isComplete || mayHaveMissed
      || change.tables.contains { tables.contains($0.lowercased()) }
    guard isWanted else { return (change.sequence, nil) }
    mayHaveMissed = false
    return (change.sequence, change)
  }
}

extension SQLiteConnection {
  /// Identifies the file among those that have been at its path.
  fileprivate var identity: Int64 { Int64(bitPattern: file?.inode ?? 0) }

  /// Checks that tables exist whose changes can be recorded.
  fileprivate func check(_ tables: [String]) throws(WormholeError) {
    guard !tables.isEmpty else { return }
    let known = try rows(
      """
      SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
      AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '\(OwnTable.prefix)*'
      """
    ) { row in String(field: row.field(0)) ?? "" }
    let names = Set(known.map { $0.lowercased() })
    for table in tables where !names.contains(table.lowercased()) {
      throw .unknownTable(name: table, known: known.sorted(), path: path)
    }
  }
}
