// Opens the file of a store.

internal import Glibc

/// The file of a store, in a private directory.
struct StoreFile: SQLiteFile {
  let directory: String
  let name: String

  /// The Darwin name that is posted after changes. If it ends in a dot, the name of the message
  /// follows it.
  let post: String

  var readerCount: Int { 2 }

  /// Opens the file for writing. Takes no lock if the schema exists.
  func openForWriting(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    guard !isReadOnly else { throw .system(code: EROFS, path: path) }
    let connection = try open(wait)
    connection.distrustSchema()
    if try !connection.hasStoreSchema() { try create(in: connection) }
    try connection.run("PRAGMA synchronous = NORMAL")
    connection.countLogPages()
    try connection.run("PRAGMA journal_size_limit = \(Self.maxIdleLogBytes)")
    try connection.run("PRAGMA secure_delete = FAST")
    try connection.run("PRAGMA cache_size = -\(Self.writerCacheKiB)")
    if try connection.rows("SELECT post FROM store", make: { $0.field(0) }) != [.text(post)] {
      // The directory was moved, or copied from another group.
      try connection.run("UPDATE store SET post = ?", .text(post))
    }
    return connection
  }

  /// Opens the file for reading. Returns `nil` if it has no tables yet.
  func openForReading(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection? {
    let connection = try openReadOnly(wait)
    connection.distrustSchema()
    try connection.execute("PRAGMA cache_size = -\(Self.readerCacheKiB)")
    return try connection.hasStoreSchema() ? connection : nil
  }

  /// The pages that a connection keeps in memory. A commit by another process makes them useless;
  /// SQLite's default of 2 MiB each would only be memory that the process never gives back. The
  /// largest value fits into the writer's.
  private static let (readerCacheKiB, writerCacheKiB) = (256, 1_024)

  /// The size to which the write-ahead log is cut after a checkpoint. The log of writers without
  /// pauses reaches this size; with a smaller limit, it would be cut and grow again each time.
  private static let maxIdleLogBytes = 8 << 20

  private func create(in connection: SQLiteConnection) throws(WormholeError) {
    try connection.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
    try connection.beginWriteAheadLog()
    try connection.storeTransaction { () throws(WormholeError) in
      // Another process may have just done it.
      guard try !connection.hasStoreSchema() else { return }
      for statement in StoreSchema.statements { try connection.run(statement) }
      try connection.run(
        "INSERT INTO store VALUES(1 + (random() & 0x7ffffffffffffffe), ?)", .text(post))
      try connection.run("PRAGMA application_id = \(StoreSchema.applicationID)")
      try connection.run("PRAGMA user_version = \(StoreSchema.version)")
    }
  }
}

extension SQLiteConnection {
  /// Checks whether the schema is ours. Returns false if there is none yet.
  func hasStoreSchema() throws(WormholeError) -> Bool {
    let found = try rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL") { $0.field(0) }
    guard !found.isEmpty else { return false }
    let version = try integer("PRAGMA user_version") ?? 0
    if try integer("PRAGMA application_id") == Int64(StoreSchema.applicationID),
      version != StoreSchema.version
    {
      throw .unknownFormat(version: Int(version), path: path)
    }
    // VACUUM may have changed the order.
    guard Set(found) == StoreSchema.fields, found.count == StoreSchema.fields.count else {
      throw .damaged(path: path).with(reason: "its tables are not those of a store")
    }
    checkedSchema = try integer("PRAGMA schema_version")
    return true
  }

  /// Checks the schema again if it has changed.
  func checkStoreSchema() throws(WormholeError) {
    guard try integer("PRAGMA schema_version") != checkedSchema else { return }
    guard try hasStoreSchema() else {
      throw .damaged(path: path).with(reason: "its tables were removed")
    }
  }

  /// Runs a body that writes as a transaction.
  func storeTransaction<Value>(
    _ body: () throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    do throws(WormholeError) {
      try run("BEGIN IMMEDIATE")
      let value = try body()
      try commit()
      return value
    } catch {
      if isInTransaction { try? executeInAnyCase("ROLLBACK") }
      throw error
    }
  }

  /// Commits. SQLite may report an interruption although the commit has already succeeded.
  private func commit() throws(WormholeError) {
    do throws(WormholeError) {
      try run("COMMIT")
    } catch {
      let isInterrupted = [.cancelled, .timedOut].contains(error)
      guard isInterrupted, !isInTransaction else { throw error }
    }
  }
}
