// Opens a database to all processes of a group.

internal import DarwinNotify
internal import Foundation

/// A database of SQLite that the processes of a group share, and tell each other of what changes.
///
/// Any number of processes read and write it at the same time. Readers see the database as it was
/// when they began, and wait for nobody; writers follow each other. What a commit has changed is
/// recorded in the database, so that ``changes(in:since:)`` also tells of what happened while
/// nobody was looking. Programs that write without this library are seen as well, if nobody rings
/// then at the next occasion. The value must not be used in a process that was forked from the one
/// that made it.
///
///     let database = try group.database("lunch", migrations: [
///       "CREATE TABLE dish(id INTEGER PRIMARY KEY, name TEXT)"
///     ])
///     try await database.write { try $0.run("INSERT INTO dish(name) VALUES(?)", "soup") }
///     for try await change in try database.changes(in: "dish") { show(change.rowIDs["dish"]) }
///
/// Tables whose names begin with `wormhole_` belong to the library. Triggers are recursive and
/// foreign keys are enforced on its connections.
public final class SharedDatabase: Sendable {
  let bell: NotificationName
  let center: DarwinNotificationCenter
  private let store: SQLiteStore
  private let writing = WorkQueue("wormhole.database.write", width: 1)
  private let reading = WorkQueue("wormhole.database.read", width: readers)

  /// How many tasks can read at the same time.
  private static let readers = 4

  fileprivate init(
    of group: AppGroup, name: String, migrations: [String]
  ) throws(WormholeError) {
    let (bell, center) = (group.bell("database", name), group.center)
    (self.bell, self.center) = (bell, center)
    let file = SQLiteFile(directory: group.container.path, name: FileName(for: name).text)
    store = SQLiteStore(file, readers: Self.readers) { (database) throws(WormholeError) in
      if try Migrations(migrations).run(in: database) { try center.ring(bell) }
    }
    try store.write { _ in }
  }

  // MARK: - Reading and writing

  /// Reads from the database as it is at one moment.
  ///
  /// - Parameter body: what to do. It runs on a thread where it may block; an attempt to change
  ///   something is an error.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; ``WormholeError/busy(path:)``,
  ///   ``WormholeError/damaged(path:)``, ``WormholeError/database(code:message:)``.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await reading.run { [self] in
      Result {
        try readNow { (database) throws(WormholeError) in
          try database.transaction(.deferred) { try body(Connection(database)) }
        }.get()
      }
    }.get()
  }

  /// Changes the database, all or nothing, and tells those who listen.
  ///
  /// - Parameter body: what to do. It runs on a thread where it may block, but all who write wait
  ///   for it; so must it not wait for another `write`, which would come after it.
  /// - Returns: what `body` returns. It is committed then, and visible to all.
  /// - Throws: what `body` throws, nothing has changed then; ``WormholeError/busy(path:)`` if
  ///   another process writes for too long, ``WormholeError/damaged(path:)``,
  ///   ``WormholeError/system(code:path:)``, ``WormholeError/database(code:message:)``;
  ///   ``WormholeError/notification(_:)`` if it is committed but nobody could be told.
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await writing.run { [self] in
      Result {
        let (result, hasChanged) = try store.write { (database) throws(WormholeError) in
          try ChangeLog(in: database).record { try body(Connection(database)) }
        }
        if hasChanged { try center.ring(bell) }
        return try result.get()
      }
    }.get()
  }

  /// The place of the last change: ``changes(in:since:)`` goes on from there.
  public var token: Int64 {
    get async throws(WormholeError) {
      try await reading.run { [self] in
        Result { () throws(WormholeError) in try tokenNow() }
      }.get()
    }
  }

  // MARK: - What changes are built of

  /// The place of the last change, found on this thread.
  func tokenNow() throws(WormholeError) -> Int64 {
    try readNow { (database) throws(WormholeError) in try ChangeLog(in: database).lastID() }
  }

  /// Looks for the next change behind a token.
  func change(
    after token: Int64, in tables: Set<String>
  ) async throws(WormholeError) -> (change: Change?, token: Int64) {
    try await reading.run { [self] in
      Result { () throws(WormholeError) in
        try readNow { (database) throws(WormholeError) in
          var token = token
          let change = try database.transaction(.deferred) { () throws(WormholeError) in
            try ChangeLog(in: database).change(after: &token, in: tables)
          }.get()
          return (change, token)
        }
      }
    }.get()
  }

  private func readNow<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    if let value = try store.read(body) { return value }
    // Somebody has removed the file: a new one is made.
    try store.write { _ in }
    guard let value = try store.read(body) else {
      throw .system(code: ENOENT, path: store.path)
    }
    return value
  }
}

extension AppGroup {
  /// Opens a database of the group. Its file is made if it is missing.
  ///
  /// Two processes may open it at the same time: each migration is run once.
  ///
  /// - Parameters:
  ///   - name: any text but an empty one. In the directory of the group the file has this name,
  ///     with what cannot stand in a file name escaped. `defaults.sqlite` is taken, and what ends
  ///     in `-wal`, `-shm` or `-journal`.
  ///   - migrations: the statements that lead from each version of the schema to the next, the
  ///     first from an empty database. Each is a transaction. Programs add to the end of the list
  ///     and change nothing else.
  /// - Returns: the database, with connections of its own.
  /// - Throws: ``WormholeError/invalidIdentifier`` for a name that is taken or empty,
  ///   ``WormholeError/newerSchema(found:known:)``, ``WormholeError/foreign(path:)`` if the file
  ///   is no database, ``WormholeError/damaged(path:)``, ``WormholeError/busy(path:)``,
  ///   ``WormholeError/system(code:path:)``, ``WormholeError/database(code:message:)`` also if a
  ///   migration fails, ``WormholeError/notification(_:)``.
  public func database(
    _ name: String, migrations: [String] = []
  ) throws(WormholeError) -> SharedDatabase {
    let isTaken =
      name == SharedDefaults.fileName
      || ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
    guard !name.isEmpty, !isTaken else { throw .invalidIdentifier }
    return try SharedDatabase(of: self, name: name, migrations: migrations)
  }
}
