// Opens a database to all processes of a group.

internal import DarwinNotify
internal import Glibc

/// A database of SQLite that the processes of a group share, and tell each other of what changes.
///
/// Any number of processes read and write it at the same time. Readers see the database as it was
/// when they began, and wait for nobody; writers follow each other. What a commit has changed is
/// recorded in the database, so that ``changes(in:since:)`` also tells of what happened while
/// nobody was looking. Programs that write without this library are seen as well, if nobody
/// notifications then at the next occasion. A process that was forked from one that has used any
/// log, defaults or database cannot use it before it calls `exec`.
///
///     let database = try group.database("lunch", migrations: [
///       "CREATE TABLE dish(id INTEGER PRIMARY KEY, name TEXT)"
///     ])
///     try await database.write { try $0.run("INSERT INTO dish(name) VALUES(?)", "soup") }
///     for try await change in try database.changes(in: "dish") { show(change.rowIDs["dish"]) }
///
/// Tables whose names begin with `wormhole_` belong to the library. Foreign keys are enforced on
/// its connections, and triggers are recursive, so that what a replacement removes is told as well:
/// a trigger that updates its own table needs a condition under which it ends.
///
/// These changes are not told: those of virtual tables; those of rows for which a trigger has
/// called `RAISE(IGNORE)`; the rows that another program removes by a replacement, unless its
/// triggers are recursive; the new row ids of a `VACUUM` in tables without an
/// `INTEGER PRIMARY KEY`.
public final class SharedDatabase: Sendable {
  let changeName: NotificationName
  let center: DarwinNotificationCenter
  private let store: SQLiteStore
  private let hasMigrated: Locked<Bool>

  fileprivate init(
    of group: AppGroup, name: String, fileName: String, migrations: [String]
  ) throws(WormholeError) {
    (changeName, center) = (group.changeName("database", name), group.center)
    let hasMigrated = Locked(false)
    self.hasMigrated = hasMigrated
    let file = SQLiteFile(directory: group.container.path, name: fileName)
    store = SQLiteStore(file, readers: 4) { (database) throws(WormholeError) in
      if try Migrations(migrations).run(in: database) { hasMigrated.withLock { $0 = true } }
    }
    try openNow()
  }

  // MARK: - Reading and writing

  /// Reads from the database as it is at one moment.
  ///
  /// - Parameter body: what to do. It runs on a thread where it may block; an attempt to change
  ///   something is an error.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; ``WormholeError/busy(path:)``,
  ///   ``WormholeError/damaged(path:)``, ``WormholeError/database(code:message:)``; if somebody has
  ///   removed the file what opening it throws.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await store.readers.run { [self] in
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
  ///   ``WormholeError/notification(_:)`` if it is committed but nobody could be told; if somebody
  ///   has removed the file what opening it throws.
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await store.writers.run { [self] in
      Result {
        let (result, hasChanged) = try store.write { (database) throws(WormholeError) in
          try ChangeLog(in: database).record { try body(Connection(database)) }
        }
        try notify(if: hasChanged)
        return try result.get()
      }
    }.get()
  }

  /// The place of the last change: ``changes(in:since:)`` goes on from there.
  public var token: Int64 {
    get async throws(WormholeError) {
      try await store.readers.run { [self] in
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
    try await store.readers.run { [self] in
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

  /// Opens the file to write, and makes it if it is missing.
  private func openNow() throws(WormholeError) {
    try store.write { _ in }
    try notify(if: false)
  }

  /// Tells those who listen of a change, or of a migration.
  private func notify(if hasChanged: Bool) throws(WormholeError) {
    let hasMigrated = hasMigrated.withLock { hasMigrated in
      defer { hasMigrated = false }
      return hasMigrated
    }
    if hasChanged || hasMigrated { try center.notify(changeName) }
  }

  private func readNow<Value>(
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    if let value = try store.read(body) { return value }
    // Somebody has removed the file: a new one is made.
    try openNow()
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
  ///     and change nothing else. Foreign keys are not enforced meanwhile, so that a table can be
  ///     made anew; one that leaves rows without a parent fails.
  /// - Returns: the database, with connections of its own.
  /// - Throws: ``WormholeError/invalidIdentifier`` for an empty name,
  ///   ``WormholeError/reservedName(_:)``,
  ///   ``WormholeError/newerSchema(found:known:)``, ``WormholeError/foreign(path:)`` if the file
  ///   is no database, ``WormholeError/unknownFormat(version:path:)`` if its version is negative,
  ///   ``WormholeError/notPrivate(path:)``, ``WormholeError/damaged(path:)``,
  ///   ``WormholeError/busy(path:)``, ``WormholeError/system(code:path:)``,
  ///   ``WormholeError/database(code:message:)`` also if a migration fails,
  ///   ``WormholeError/notification(_:)``.
  public func database(
    _ name: String, migrations: [String] = []
  ) throws(WormholeError) -> SharedDatabase {
    let fileName = FileName(for: name).text
    let isTaken =
      fileName == AppGroup.defaultsFile
      || ["-wal", "-shm", "-journal"].contains { fileName.hasSuffix($0) }
    guard !name.isEmpty else { throw .invalidIdentifier }
    guard !isTaken else { throw .reservedName(name) }
    return try SharedDatabase(of: self, name: name, fileName: fileName, migrations: migrations)
  }
}
