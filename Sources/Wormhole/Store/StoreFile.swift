// Opens the file of a store.

internal import DarwinNotifySupport
internal import Glibc

/// The file of a store, in a private directory.
struct StoreFile: Sendable {
  let directory: String
  let name: String

  /// The Darwin name that is posted after changes. If it ends in a dot, the name of the message
  /// follows it.
  let post: String

  var path: String { "\(directory)/\(name)" }

  /// Identifies a file while anybody has it open.
  struct ID: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  /// Returns the file that is there now, `nil` if there is none.
  func id() throws(WormholeError) -> ID? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw .system(code: errno, path: path) }
      return nil
    }
    guard status.isOwnFile else { throw .foreign(path: path) }
    return ID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Creates an empty file, and its directory, if missing.
  func make() throws(WormholeError) {
    _ = try PrivateDirectory(directory)
    // Created without opening: closing the file would release any locks of this process on it.
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw .system(code: errno, path: path)
    }
  }

  /// Whether nobody can write to the file by this path, as on a file system mounted read-only.
  var isReadOnly: Bool { access(path, W_OK) != 0 && errno == EROFS }

  /// Opens the file for writing. Takes no lock if the schema exists.
  func openForWriting(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    guard !isReadOnly else { throw .system(code: EROFS, path: path) }
    let connection = try open(wait)
    if try !connection.hasStoreSchema() { try create(in: connection) }
    try connection.run("PRAGMA synchronous = NORMAL")
    connection.countLogPages()
    try connection.run("PRAGMA journal_size_limit = \(Self.maxIdleLogBytes)")
    try connection.run("PRAGMA secure_delete = FAST")
    if try connection.rows("SELECT post FROM store", make: { $0.field(0) }) != [.text(post)] {
      // The directory was moved, or copied from another group.
      try connection.run("UPDATE store SET post = ?", .text(post))
    }
    return connection
  }

  /// Opens the file for reading. Returns `nil` if it has no tables yet.
  func openForReading(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection? {
    let connection = try open(wait)
    guard try connection.hasStoreSchema() else { return nil }
    try connection.execute("PRAGMA query_only = ON")
    connection.isForReading = true
    return connection
  }

  /// The size to which the write-ahead log is cut after a checkpoint.
  private static let maxIdleLogBytes = 4 << 20

  private func open(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    // Parent directories may be symbolic links, which SQLite would also refuse.
    guard let real = realpath(directory, nil) else {
      throw .system(code: errno, path: directory)
    }
    defer { free(real) }
    let path = "\(String(cString: real))/\(name)"
    var snapshot: FileSnapshot?
    if isReadOnly, case let found = FileSnapshot(of: path), !found.hasLog { snapshot = found }
    let connection = try SQLiteConnection(opening: path, snapshot: snapshot, wait: wait)
    connection.distrustSchema()
    return connection
  }

  private func create(in connection: SQLiteConnection) throws(WormholeError) {
    try connection.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
    try connection.beginWriteAheadLog()
    let mode = try connection.rows("PRAGMA journal_mode", make: { $0.field(0) })
    guard mode == [.text("wal")] else {
      throw .database(
        code: sqliteCannotOpen, message: "the file system of \(path) has no shared memory")
    }
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
    storeSchema = try integer("PRAGMA schema_version")
    return true
  }

  /// Checks the schema again if it has changed.
  func checkStoreSchema() throws(WormholeError) {
    guard try integer("PRAGMA schema_version") != storeSchema else { return }
    guard try hasStoreSchema() else {
      throw .damaged(path: path).with(reason: "its tables were removed")
    }
  }

  /// Runs a body that writes as a transaction.
  func storeTransaction<Value>(
    _ body: () throws(WormholeError) -> Value
  ) throws(WormholeError) -> Value {
    try run("BEGIN IMMEDIATE")
    do throws(WormholeError) {
      let value = try body()
      try run("COMMIT")
      return value
    } catch {
      if isInTransaction { try? executeInAnyCase("ROLLBACK") }
      throw error
    }
  }
}
