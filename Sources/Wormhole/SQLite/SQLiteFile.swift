// Opens database files.

internal import CSQLite
internal import Foundation

/// A place for a database file in a private directory.
struct SQLiteFile: Sendable {
  /// The directory of the file.
  let directory: String

  /// The name of the file in its directory.
  let name: String

  /// Whether a commit outlives the crash of the machine: it waits for the disk then. The crash of a
  /// process it outlives in any case.
  var isDurable = false

  /// What has to be in the file; `nil` if that is not our business.
  var schema: SQLiteSchema?

  /// The size of a page in a file that is new, in bytes: 4096 as SQLite has it, or less where most
  /// transactions change little. A commit writes whole pages.
  var pageBytes = 4096

  var path: String { "\(directory)/\(name)" }

  /// How large the write-ahead log becomes before it is taken over into the database: 4 MiB, as
  /// SQLite has it with pages of 4096 bytes.
  private static let mostLogBytes = 4 << 20

  /// What is left on disk of the write-ahead log of a large transaction.
  private static let longestIdleLog = 16 << 20

  /// Opens the file for writing. It is made if it is missing, its directory too.
  func openForWriting() throws(WormholeError) -> SQLiteConnection {
    _ = try PrivateDirectory(directory)
    // It is made without being opened: closing it would give up the locks that this process may
    // have on it by then.
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw .system(code: errno, path: path)
    }
    let connection = try open()
    let state = try schema?.check(connection)
    try connection.execute("PRAGMA page_size = \(pageBytes)")
    try connection.beginWriteAheadLog()
    try connection.execute(
      """
      PRAGMA synchronous = \(isDurable ? "FULL" : "NORMAL");
      PRAGMA wal_autocheckpoint = \(Self.mostLogBytes / pageBytes);
      PRAGMA journal_size_limit = \(Self.longestIdleLog);
      PRAGMA secure_delete = FAST;
      PRAGMA foreign_keys = ON;
      PRAGMA recursive_triggers = ON;
      """)
    if state == .empty { try schema?.create(in: connection) }
    return connection
  }

  /// Opens the file for reading. Returns `nil` if there is none, or nothing in it yet.
  func openForReading() throws(WormholeError) -> SQLiteConnection? {
    guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
    let connection = try open()
    if let schema, try schema.check(connection) == .empty { return nil }
    try connection.execute("PRAGMA query_only = ON")
    connection.isForReading = true
    return connection
  }

  /// Refuses the child of a process that has used SQLite: that keeps a list of the locks of the
  /// process, which are not those of a child.
  static func refuseForkedChild() throws(WormholeError) {
    guard getpid() == ownProcess else {
      throw .database(
        code: SQLITE_MISUSE, message: "this process was forked from one that has used SQLite")
    }
  }

  private func open() throws(WormholeError) -> SQLiteConnection {
    try Self.refuseForkedChild()
    // Directories above may be symbolic links, which SQLite would refuse as it does the file.
    guard let real = realpath(directory, nil) else {
      throw .system(code: errno, path: directory)
    }
    defer { free(real) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .system(code: errno, path: path) }
    guard status.isOwnFile else { throw .foreign(path: path) }
    return try SQLiteConnection(opening: "\(String(cString: real))/\(name)")
  }
}

/// The process that has opened the first file.
private let ownProcess = getpid()

extension SQLiteConnection {
  /// Lets readers and a writer work at the same time. Where the file system cannot do that, they
  /// wait for each other.
  fileprivate func beginWriteAheadLog() throws(WormholeError) {
    var busyWait = BusyWait()
    var attempt: Int32 = 0
    while true {
      do throws(WormholeError) {
        return try execute("PRAGMA journal_mode = WAL")
      } catch {
        // Nobody may use the file while the mode changes. SQLite does not wait for that by itself.
        guard case .busy = error, busyWait.wait(attempt: attempt) else { throw error }
        attempt += 1
      }
    }
  }
}
