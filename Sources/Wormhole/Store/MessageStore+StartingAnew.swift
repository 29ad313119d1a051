// Moves the file of a damaged store away.

internal import Glibc

extension MessageStore {
  /// Moves a damaged file away: its messages are lost, and so are messages that other processes
  /// pass during the call. Numbers begin at 1 again, and readers learn from
  /// ``StoredBatch/identity`` that they may have missed something.
  ///
  /// The files keep their names with the suffix `.damaged`, and replace earlier files of these
  /// names. Waits up to ten seconds for other threads of this process that use the file.
  package func startAnew() throws(WormholeError) {
    try connections.withoutConnections { () throws(WormholeError) in
      // The database goes last: until then, nothing creates a new one, so no new log is moved.
      let suffixes = ["-wal", "-shm", ""]
      // If one file cannot be replaced, all stay where they are.
      for suffix in suffixes { try removeFile("\(path).damaged\(suffix)") }
      fillIfEmpty()
      for suffix in suffixes { try moveFile(path + suffix, to: "\(path).damaged\(suffix)") }
    }
  }

  private func removeFile(_ path: String) throws(WormholeError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw .system(code: errno, path: path) }
  }

  private func moveFile(_ path: String, to other: String) throws(WormholeError) {
    guard rename(path, other) == 0 || errno == ENOENT else {
      throw .system(code: errno, path: path)
    }
  }

  /// Gives an empty file a page. SQLite opens the log only when the first statement runs: a process
  /// that has the empty file open, but has not run one, would remove the log of the next file as a
  /// leftover.
  private func fillIfEmpty() {
    var status = stat()
    guard lstat(path, &status) == 0, status.isOwnFile, status.st_size == 0 else { return }
    _ = truncate(path, 4_096)
  }
}
