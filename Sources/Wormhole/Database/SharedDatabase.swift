// Opens a database for all processes of a group.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Glibc

/// An SQLite database that the processes of a group share, and whose changes they observe.
///
/// Any number of processes read and write it at the same time. Readers see the database as it was
/// when they began, and wait for nobody; writers take turns. Each commit leaves a record of what it
/// has changed in the database, so that ``changes(in:since:)`` also reports what happened while
/// nobody was reading. Functions that read or write are asynchronous; ``blocking`` has the same
/// functions for synchronous code.
///
///     let database = try group.database("lunch", migrations: [
///       SharedDatabase.Migration("dishes") {
///         try $0.run("CREATE TABLE dish(id INTEGER PRIMARY KEY, name TEXT)")
///       }
///     ])
///     try await database.write { try $0.run("INSERT INTO dish(name) VALUES(?)", "soup") }
///     for try await change in try database.changes(in: ["dish"]) { show(change.rowIDs["dish"]) }
///
/// It is an ordinary SQLite file, which other programs may write with any SQLite library. Tables
/// whose names begin with `wormhole_` belong to this library. Foreign keys are enforced on its
/// connections. A child forked from a process that uses a database cannot use it before it calls
/// `exec`.
public final class SharedDatabase: Sendable {
  let changeName: NotificationName
  let center: DarwinNotificationCenter
  let queues: StoreQueues
  private let connections: StoreConnections<DatabaseFile>
  private let migrations: Migrations

  /// The file whose migrations have been run.
  private let migrated = Locked<FileID?>(nil)

  init(
    of group: AppGroup, name: String, in file: DatabaseFile, migrations: Migrations
  ) throws(WormholeError) {
    (changeName, center) = (group.changeName("database", name), group.center)
    (connections, queues) = (StoreConnections(to: file), StoreQueues(of: file))
    self.migrations = migrations
    try migrate(within: WorkLimit())
  }

  /// The file, for errors.
  var path: String { connections.file.path }

  // MARK: - Reading and writing

  /// Reads a snapshot of the database.
  ///
  /// If the task is cancelled or the time is up, the statement that is running ends with an error,
  /// and so does every other. Nothing else in the body is interrupted.
  ///
  /// - Parameters:
  ///   - timeout: how long to wait; `nil` for no limit.
  ///   - body: what to do. It runs on a thread where it may block; an attempt to change something
  ///     is an error.
  /// - Returns: what `body` returns.
  /// - Throws: what `body` throws; ``WormholeError/cancelled``, ``WormholeError/timedOut``,
  ///   ``WormholeError/busy``, ``WormholeError/damaged``, ``WormholeError/database``; if somebody
  ///   has removed the file what opening it throws.
  public func read<Value: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await queues.reading.run(on: path, timeout: timeout) { [self] limit in
      Result { try readNow(within: limit, body) }
    }.get()
  }

  /// Changes the database, all or nothing, and notifies its observers.
  ///
  /// If the task is cancelled or the time is up before the commit, nothing has changed: the
  /// statement that is running ends with an error, and so does every other. Nothing else in the
  /// body is interrupted.
  ///
  /// - Parameters:
  ///   - timeout: how long it may take; `nil` waits ten seconds for other writers.
  ///   - body: what to do. It runs on a thread where it may block, but all who write wait for it;
  ///     so must it not wait for another `write`, which would come after it.
  /// - Returns: what `body` returns. The changes are then committed and visible to all.
  /// - Throws: what `body` throws, nothing has changed then; ``WormholeError/cancelled``,
  ///   ``WormholeError/timedOut``; without a timeout ``WormholeError/busy`` if
  ///   another process writes for too long, ``WormholeError/heldByReader``,
  ///   ``WormholeError/damaged``, ``WormholeError/foreign`` if something else has the name of the
  ///   library's table, ``WormholeError/system``, ``WormholeError/database``;
  ///   ``WormholeError/notification`` if the changes are committed but nobody could be
  ///   notified; if the file was removed, what opening it throws.
  @discardableResult public func write<Value: Sendable>(
    timeout: Duration? = nil,
    _ body: @escaping @Sendable (borrowing Connection) throws -> Value
  ) async throws -> Value {
    try await queues.writing.run(on: path, timeout: timeout) { [self] limit in
      Result { try writeNow(within: limit, body) }
    }.get()
  }

  // MARK: - On the calling thread

  /// Runs a program's body that reads.
  func readNow<Value>(
    within limit: WorkLimit? = nil, _ body: (borrowing Connection) throws -> Value
  ) throws -> Value {
    try use(\.readers, within: limit) { (connection) throws(WormholeError) in
      try connection.transaction(.deferred) { try body(Connection(connection)) }
    }.get()
  }

  /// Runs a library body that reads.
  func look<Value>(
    within limit: WorkLimit?, _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    try use(\.readers, within: limit) { (connection) throws(WormholeError) in
      try connection.transaction(.deferred) { () throws(WormholeError) in try body(connection) }
    }.get()
  }

  /// Runs a body that writes, then notifies observers.
  func writeNow<Value>(
    within limit: WorkLimit? = nil, _ body: (borrowing Connection) throws -> Value
  ) throws -> Value {
    let (result, hasChanged) = try use(\.writer, within: limit) {
      (connection) throws(WormholeError) in
      try connection.limitWriteAheadLog()
      return try CommitLog(database: connection).record { try body(Connection(connection)) }
    }
    if hasChanged { try center.notify(changeName) }
    return try result.get()
  }

  /// Lends a connection to the file that is there now, or to a new one.
  private func use<Value>(
    _ lane: KeyPath<StoreLanes, StoreLane>, within limit: WorkLimit?,
    _ body: (SQLiteConnection) throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    let limit = limit ?? WorkLimit()
    let file = try connections.file.id()
    if file == nil || file != migrated.withLock({ $0 }) { try migrate(within: limit) }
    let value = try connections.use(lane, within: limit, makes: true, body)
    guard let value else { throw .damaged(path: path) }
    return value
  }

  /// Runs the migrations that the file has not run. If there are none, nobody is kept from writing.
  private func migrate(within limit: WorkLimit) throws(WormholeError) {
    let found = try connections.use(\.readers, within: limit, makes: true) {
      (connection) throws(WormholeError) in
      (file: connection.file, isReady: try migrations.next(in: connection) == nil)
    }
    if found?.isReady != true {
      let hasChanged = try connections.use(\.writer, within: limit, makes: true) {
        (connection) throws(WormholeError) in try migrations.run(in: connection)
      }
      if hasChanged == true { try center.notify(changeName) }
    }
    migrated.withLock { $0 = found?.file }
  }
}

extension AppGroup {
  /// Opens a database of the group. Its file is created if it is missing; a file created by another
  /// program keeps its tables.
  ///
  /// Each migration that has not been run yet runs once, in the order of the list, as a
  /// transaction, whichever process opens the database first. Insert a migration anywhere in the
  /// list, but do not rename or remove one. A database is refused if a later version of the program
  /// has run a migration there that is not in the list. Foreign keys are not enforced during a
  /// migration, so that it can rebuild a table; one that leaves rows without a parent fails.
  ///
  /// Only migrations wait for other writers, on the calling thread.
  ///
  /// - Parameters:
  ///   - name: any nonempty text. The file in the directory of the group has this name, with
  ///     characters that a file name cannot contain escaped. `defaults`, `wormhole` and names that
  ///     end in `-wal`, `-shm` or `-journal` are reserved.
  ///   - migrations: the migrations, in the order in which an empty database needs them.
  /// - Returns: the database.
  /// - Throws: ``WormholeError/invalidIdentifier`` for an empty name,
  ///   ``WormholeError/reservedName``; ``WormholeError/migrationFailed``, also if two have the same
  ///   name: the failed migration has changed nothing, earlier ones stay;
  ///   ``WormholeError/unknownMigrations``; ``WormholeError/foreign`` if the file is not a database
  ///   of this user; ``WormholeError/notPrivate``, ``WormholeError/damaged``,
  ///   ``WormholeError/busy``, ``WormholeError/system``, ``WormholeError/database``,
  ///   ``WormholeError/notification``.
  public func database(
    _ name: String, migrations: [SharedDatabase.Migration] = []
  ) throws -> SharedDatabase {
    let file = try databaseFile(name)
    return try SharedDatabase(
      of: self, name: name, in: file, migrations: try Migrations(migrations, path: file.path))
  }
}
