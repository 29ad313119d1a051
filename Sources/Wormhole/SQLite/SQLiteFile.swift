// Opens database files.

internal import CSQLite
internal import Glibc

/// A database file in a private directory.
struct SQLiteFile: Sendable {
  /// The directory of the file.
  let directory: String

  /// The name of the file in its directory.
  let name: String

  /// Whether a commit survives a power loss, for which it waits for the disk. It survives the end
  /// of the process in any case.
  var isDurable = false

  /// The required contents; `nil` for a file with the tables of a program.
  var schema: SQLiteSchema?

  /// The page size of a new file, in bytes: 4096, the default of SQLite, or less if most
  /// transactions change little. A commit writes whole pages.
  var pageBytes = 4096

  /// The memory that a connection may use for pages.
  var cacheKiB = 2000

  /// Throws if the file must not be created.
  var mayCreate: @Sendable () throws(WormholeError) -> Void = {}

  var path: String { "\(directory)/\(name)" }

  /// The size of the write-ahead log that triggers a checkpoint: 4 MiB, the default of SQLite with
  /// pages of 4096 bytes.
  private static let maxLogBytes = 4 << 20

  /// The size to which the write-ahead log of a large transaction is cut afterwards.
  private static let maxIdleLogBytes = 16 << 20

  /// Opens the file for writing. Creates it, and its directory, if missing.
  ///
  /// - Parameter wait: the waits of the call that needs it.
  /// - Returns: the connection.
  /// - Throws: ``WormholeError``.
  func openForWriting(_ wait: Backoff = Backoff()) throws(WormholeError) -> SQLiteConnection {
    _ = try PrivateDirectory(directory)
    if access(path, F_OK) != 0 { try mayCreate() }
    // Made without opening it: closing it would release the locks that this process may already
    // have on it.
    guard !isReadOnly else { throw .system(code: EROFS, path: path) }
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw .system(code: errno, path: path)
    }
    let connection = try open(wait)
    let state = try schema?.check(connection)
    try connection.execute("PRAGMA page_size = \(pageBytes)")
    try connection.beginWriteAheadLog()
    try connection.execute(
      """
      PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL");
      PRAGMA wal_autocheckpoint = \(Self.maxLogBytes / pageBytes);
      PRAGMA journal_size_limit = \(Self.maxIdleLogBytes);
      PRAGMA secure_delete = FAST;
      PRAGMA foreign_keys = ON;
      PRAGMA recursive_triggers = ON;
      """)
    if state == .empty { try schema?.create(in: connection) }
    connection.noteCompanions()
    return connection
  }

  /// Opens the file for reading.
  ///
  /// - Parameter wait: the waits of the call that needs it.
  /// - Returns: the connection, or `nil` if the file is missing or empty.
  /// - Throws: ``WormholeError``.
  func openForReading(_ wait: Backoff = Backoff()) throws(WormholeError) -> SQLiteConnection? {
    guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
    let connection = try open(wait)
    if let schema, try schema.check(connection) == .empty { return nil }
    try connection.execute("PRAGMA query_only = ON")
    connection.isForReading = true
    connection.noteCompanions()
    return connection
  }

  /// Removes the file, with what belongs to it.
  func remove() throws(WormholeError) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
      guard unlink(path + suffix) == 0 || errno == ENOENT else {
        throw .system(code: errno, path: path + suffix)
      }
    }
  }

  /// Refuses a forked child: SQLite keeps a list of the process's locks, which a child does not
  /// have.
  static func refuseForkedChild() throws(WormholeError) {
    guard getpid() == ownProcess else {
      throw .database(
        code: SQLITE_MISUSE, message: "this process was forked from one that has used SQLite")
    }
  }

  /// Whether nobody can write to the file by this path, as on a file system mounted read-only.
  var isReadOnly: Bool { access(path, W_OK) != 0 && errno == EROFS }

  /// A file that cannot be written is opened as immutable: the files that SQLite needs beside it
  /// cannot be made. If a writer elsewhere has made them, they are used.
  private func snapshot(of path: String) -> FileSnapshot? {
    guard isReadOnly else { return nil }
    let snapshot = FileSnapshot(of: path)
    return snapshot.hasLog ? nil : snapshot
  }

  private func open(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    try Self.refuseForkedChild()
    // Parent directories may be symbolic links, which SQLite would also refuse.
    guard let real = realpath(directory, nil) else {
      throw .system(code: errno, path: directory)
    }
    defer { free(real) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .system(code: errno, path: path) }
    guard status.isOwnFile else { throw .foreign(path: path) }
    let path = "\(String(cString: real))/\(name)"
    let connection = try SQLiteConnection(
      opening: path, snapshot: snapshot(of: path), wait: wait)
    try connection.execute("PRAGMA cache_size = -\(cacheKiB)")
    return connection
  }
}

/// The process that opened the first file.
private let ownProcess = getpid()

extension SQLiteConnection {
  /// Lets readers and a writer work at the same time. On file systems without shared memory they
  /// wait for each other.
  func beginWriteAheadLog() throws(WormholeError) {
    while true {
      do throws(WormholeError) {
        // Nobody may use the file while the mode changes. SQLite waits only for some of the locks
        // that this takes, so all the waiting is done here.
        return try waiting(atMost: .zero) { () throws(WormholeError) in
          try execute("PRAGMA journal_mode = WAL")
        }
      } catch {
        guard case .busy = error, waitForLock() else {
          throw error
        }
      }
    }
  }
}

/// Returns the number by which a file system knows a file, 0 if there is none.
func inode(of path: String) -> ino_t {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_ino : 0
}

/// What a database looks like from outside, where it cannot be written. Somebody else may write it
/// by another way, and then it looks different.
struct FileSnapshot: Equatable {
  private var seconds = 0
  private var nanoseconds = 0
  private var size = 0

  /// Whether there is a write-ahead log, which belongs to the contents.
  let hasLog: Bool

  init(of path: String) {
    var status = stat()
    if stat(path, &status) == 0 {
      (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
      size = Int(status.st_size)
    }
    hasLog = stat(path + "-wal", &status) == 0 && status.st_size > 0
  }
}
