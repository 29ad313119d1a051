// Opens the files of databases.

internal import Glibc

/// A database file in a private directory.
protocol SQLiteFile: Sendable {
  /// The directory of the file.
  var directory: String { get }

  /// The name of the file in its directory.
  var name: String { get }

  /// How many threads can read at a time.
  var readerCount: Int { get }

  /// Opens the file, which exists, for writing.
  func openForWriting(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection

  /// Opens the file, which exists, for reading. Returns `nil` if nothing is in it yet.
  func openForReading(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection?
}

/// Identifies a file while any process has it open.
struct FileID: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
}

extension SQLiteFile {
  var path: String { "\(directory)/\(name)" }

  /// Returns the file at the path now, or `nil`.
  func id() throws(WormholeError) -> FileID? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT || errno == ENOTDIR else { throw .system(code: errno, path: path) }
      return nil
    }
    guard status.isOwnFile else { throw .foreign(path: path) }
    return FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Creates an empty file, and its directory, if missing.
  func make() throws(WormholeError) {
    _ = try PrivateDirectory(directory)
    // Created without opening: closing the file would release all locks of this process on it.
    guard mknod(path, S_IFREG | 0o600, 0) == 0 || errno == EEXIST else {
      throw .system(code: errno, path: path)
    }
  }

  /// Whether nobody can write to the file by this path, as on a file system mounted read-only.
  var isReadOnly: Bool { access(path, W_OK) != 0 && errno == EROFS }

  /// Opens the file, for writing if possible.
  func open(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    // Parent directories may be symbolic links, which SQLite would also refuse.
    guard let real = realpath(directory, nil) else {
      throw .system(code: errno, path: directory)
    }
    defer { free(real) }
    return try SQLiteConnection(
      opening: "\(String(cString: real))/\(name)", isImmutable: isReadOnly && !hasLog, wait: wait)
  }

  /// Opens the file read-only.
  func openReadOnly(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    let connection = try open(wait)
    try connection.execute("PRAGMA query_only = ON")
    connection.isForReading = true
    return connection
  }

  /// Whether there is a write-ahead log, which belongs to the contents.
  private var hasLog: Bool {
    var status = stat()
    return stat("\(path)-wal", &status) == 0 && status.st_size > 0
  }
}
