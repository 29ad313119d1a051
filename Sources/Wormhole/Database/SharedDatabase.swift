// Opens a database for all processes of a group.

internal import DarwinNotify
internal import Glibc

/// An SQLite database that the processes of a group share, and whose changes they observe.
///
/// Any number of processes read and write it at the same time. Readers see the database as it was
/// when they began, and wait for nobody; writers take turns. The changes of a commit are recorded
/// in the database, so that ``changes(in:since:)`` also reports what happened while nobody was
/// looking. Programs that write without this library post no notification; their changes are
/// reported with the next one. A child forked from a process that has used any log, defaults or
/// database cannot use it before it calls `exec`. Functions that read or write are asynchronous;
/// ``blocking`` has the same functions for code that is not.
///
///     let database = try group.database("lunch", migrations: [
///       "CREATE TABLE dish(id INTEGER PRIMARY KEY, name TEXT)"
///     ])
///     try await database.write { try $0.run("INSERT INTO dish(name) VALUES(?)", "soup") }
///     for try await change in try database.changes(in: ["dish"]) { show(change.rowIDs["dish"]) }
///
/// Tables whose names begin with `wormhole_` belong to the library. Foreign keys are enforced on
/// its connections. Triggers are recursive, so that rows removed by a replacement are reported,
/// too: a trigger that updates its own table needs a condition under which it stops.
///
/// These changes are not reported: those of virtual tables; those of rows for which a trigger
/// called `RAISE(IGNORE)`; rows that another program removes by a replacement, unless its triggers
/// are recursive; new row ids that `VACUUM` assigns in tables without an `INTEGER PRIMARY KEY`.
public final class SharedDatabase: Sendable {
  let changeName: NotificationName
  let center: DarwinNotificationCenter
  private let file: SQLiteFile
  private let migrations: Migrations
  private let store: SQLiteStore
  private let hasMigrated: Locked<Bool>

  init(
    of group: AppGroup, name: String, in file: SQLiteFile, migrations: Migrations
  ) throws(WormholeError) {
    (changeName, center) = (group.changeName("database", name), group.center)
    let hasMigrated = Locked(false)
    self.hasMigrated = hasMigrated
    self.file = file
    self.migrations = migrations
    store = SQLiteStore(file, readers: 4) { (database) throws(WormholeError) in
      if try migrations.run(in: database) { hasMigrated.withLock { $0 = true } }
    }
    try openNow()
  }

  // MARK: - Reading and writing

  /// Reads a snapshot of the database.
  ///
  /// If the task is cancelled or the time is up, the statement that is running ends with an error,
  /// and so does every other.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait; `nil` for no limit.
  ///   - body: what to do. It runs on a thread where it may block; an attempt to change something
  ///     is an error.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; ``WormholeError/cancelled``, ``WormholeError/timedOut``,
  ///   ``WormholeError/busy``, ``WormholeError/damaged``,
  ///   ``WormholeError/database``; if somebody has removed the file what opening it
  ///   throws.
  public func read<Value: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await store.readers.run(timeout: timeout) { [blocking] in
      Result { try blocking.read(body) }
    }.get()
  }

  /// Changes the database, all or nothing, and notifies its observers.
  ///
  /// If the task is cancelled or the time is up before the commit, nothing has changed: the
  /// statement that is running ends with an error, and so does every other.
  ///
  /// - Parameters:
  ///   - timeout: how long it may take; `nil` waits ten seconds for other writers.
  ///   - body: what to do. It runs on a thread where it may block, but all who write wait for it;
  ///     so must it not wait for another `write`, which would come after it.
  /// - Returns: what `body` returns. The changes are then committed and visible to all.
  /// - Throws: what `body` throws, nothing has changed then; ``WormholeError/cancelled``,
  ///   ``WormholeError/timedOut``; without a timeout ``WormholeError/busy`` if
  ///   another process writes for too long, ``WormholeError/damaged``,
  ///   ``WormholeError/system``, ``WormholeError/database``;
  ///   ``WormholeError/notification`` if the changes are committed but nobody could be
  ///   notified; if the file was removed, what opening it throws.
  @discardableResult public func write<Value: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await store.writers.run(timeout: timeout) { [blocking] in
      Result { try blocking.write(body) }
    }.get()
  }

  /// The position of the last change, from which ``changes(in:since:)`` can continue.
  public var token: Int64 {
    get async throws(WormholeError) {
      try await store.readers.run { [self] in
        Result { () throws(WormholeError) in try position().token }
      }.get()
    }
  }

  // MARK: - Used by sequences and the functions that block

  /// Runs a body in a read transaction, on a thread where it may block.
  func snapshot<Value: Sendable>(
    timeout: Duration? = nil, _ body: @escaping @Sendable (SQLiteConnection) throws -> Value
  ) async throws -> Value {
    try await store.readers.run(timeout: timeout) { [self] in
      Result { try snapshotNow(body) }
    }.get()
  }

  /// Runs a body in a read transaction on this thread.
  func snapshotNow<Value>(_ body: (SQLiteConnection) throws -> Value) throws -> Value {
    try readNow { (database) throws(WormholeError) in
      try database.transaction(.deferred) { try body(database) }
    }.get()
  }

  /// Runs a body that writes on this thread, then notifies observers.
  func writeNow<Value>(_ body: (borrowing Connection) throws -> Value) throws -> Value {
    let (result, hasChanged) = try store.write { (database) throws(WormholeError) in
      try ChangeLog(in: database).record { try body(Connection(database)) }
    }
    try notify(if: hasChanged)
    return try result.get()
  }

  /// The position of the last change, read on this thread, and the names of tables in lower case.
  func position(
    in tables: [String] = []
  ) throws(WormholeError) -> (token: Int64, tables: Set<String>) {
    try readNow { (database) throws(WormholeError) in
      try database.transaction(.deferred) { () throws(WormholeError) in
        let log = ChangeLog(in: database)
        return (try log.lastID(), try log.find(tables))
      }.get()
    }
  }

  /// Searches for the next change after a token.
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

  /// Opens the file to write, and makes it if it is missing; to read, if it cannot be written.
  private func openNow() throws(WormholeError) {
    if file.isReadOnly {
      _ = try store.read { (database) throws(WormholeError) in try migrations.check(database) }
      return
    }
    try store.write { _ in }
    try notify(if: false)
  }

  /// Notifies observers of a change or a migration.
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
    // The file was removed: a new one is created.
    try openNow()
    guard let value = try store.read(body) else {
      throw .system(code: ENOENT, path: store.path)
    }
    return value
  }
}

extension AppGroup {
  /// Opens a database of the group. Its file is created if it is missing.
  ///
  /// Two processes may open it at the same time: each migration runs once.
  ///
  /// - Parameters:
  ///   - name: any nonempty text. The file in the directory of the group has this name, with
  ///     characters that a file name cannot contain escaped. `defaults` and names that end
  ///     in `-wal`, `-shm` or `-journal` are reserved.
  ///   - migrations: the statements that lead from each version of the schema to the next, the
  ///     first from an empty database. Each runs as a transaction. Only ever append to the list.
  ///     Foreign keys are not enforced during a migration, so that it can rebuild a table; one that
  ///     leaves rows without a parent fails.
  /// - Returns: the database, with its own connections.
  /// - Throws: ``WormholeError/invalidIdentifier`` for an empty name,
  ///   ``WormholeError/reservedName``, ``WormholeError/newerSchema``,
  ///   ``WormholeError/foreign`` if the file is not a database,
  ///   ``WormholeError/unknownFormat`` if its version is negative,
  ///   ``WormholeError/notPrivate``, ``WormholeError/damaged``,
  ///   ``WormholeError/busy``, ``WormholeError/system``,
  ///   ``WormholeError/database``, also if a migration fails,
  ///   ``WormholeError/notification``.
  public func database(
    _ name: String, migrations: [String] = []
  ) throws(WormholeError) -> SharedDatabase {
    try SharedDatabase(
      of: self, name: name, in: try databaseFile(name), migrations: Migrations(migrations))
  }
}
