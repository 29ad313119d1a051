// Repairs the change log of a database.

internal import DarwinNotify
internal import Glibc

extension AppGroup {
  /// Makes the change log of a database anew, also if it is damaged or another program has written
  /// to it. The tables of the database stay as they are.
  ///
  /// Whoever asks for changes gets one that is not complete, and reads all anew.
  ///
  /// - Parameter name: the name of the database; one without a file is no error.
  /// - Throws: ``WormholeError/invalidIdentifier``, ``WormholeError/reservedName(_:)``,
  ///   ``WormholeError/busy(path:)``, ``WormholeError/foreign(path:)`` if the file is no database,
  ///   ``WormholeError/damaged(path:)`` if more than the change log is damaged, other
  ///   ``WormholeError``.
  public func resetChanges(ofDatabase name: String) throws(WormholeError) {
    let file = try databaseFile(name)
    guard access(file.path, F_OK) == 0 || errno != ENOENT else { return }
    try ChangeLog(in: try file.openForWriting()).reset()
    try center.notify(changeName("database", name))
  }

  /// Returns the file of a database.
  func databaseFile(_ name: String) throws(WormholeError) -> SQLiteFile {
    guard !name.isEmpty else { throw .invalidIdentifier }
    let fileName = FileName(for: name).text
    let isTaken =
      fileName == AppGroup.defaultsFile
      || ["-wal", "-shm", "-journal"].contains { fileName.hasSuffix($0) }
    guard !isTaken else { throw .reservedName(name) }
    return SQLiteFile(directory: container.path, name: fileName)
  }
}
