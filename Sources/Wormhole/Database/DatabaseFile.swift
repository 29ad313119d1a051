// Opens the database file of a program.

internal import Glibc

/// A database with the tables of a program.
struct DatabaseFile: SQLiteFile {
  let directory: String
  let name: String
  var readerCount: Int { 4 }

  /// Opens the file for writing. Takes no lock if it has a write-ahead log.
  func openForWriting(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection {
    guard !isReadOnly else { throw .system(code: EROFS, path: path) }
    let connection = try open(wait)
    try connection.beginWriteAheadLog()
    try connection.execute(
      """
      PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = \(Self.maxIdleLogBytes);
      PRAGMA secure_delete = FAST;
      PRAGMA foreign_keys = ON;
      """)
    connection.recordRows()
    return connection
  }

  func openForReading(_ wait: Backoff) throws(WormholeError) -> SQLiteConnection? {
    try openReadOnly(wait)
  }

  /// The size to which the write-ahead log is truncated after a large transaction.
  private static let maxIdleLogBytes = 4 << 20
}

extension AppGroup {
  /// Returns the file of a database.
  func databaseFile(_ name: String) throws(WormholeError) -> DatabaseFile {
    guard !name.isEmpty else { throw .invalidIdentifier }
    let fileName = FileName(for: name).text
    let isTaken =
      [Self.defaultsStore, Self.wormholeStore].contains(fileName)
      || ["-wal", "-shm", "-journal"].contains { fileName.hasSuffix($0) }
    guard !isTaken else { throw .reservedName(name) }
    return DatabaseFile(directory: container.path, name: fileName)
  }
}
