// Remembers how far a reader of a log has come.

internal import Foundation

/// A row of the table `cursors`, with the lock that makes it the reader's own.
final class LogCursor: MailboxCursor {
  private let cursor: String
  private let store: SQLiteStore
  private let lock: FileLock

  init(
    _ cursor: String, of name: String, in directory: String, store: SQLiteStore
  ) throws(WormholeError) {
    self.cursor = cursor
    self.store = store
    _ = try PrivateDirectory(directory)
    // No name of a file is as long as both together may be.
    let file = FileName(for: "\(name)\u{0}\(cursor)").text
    do throws(WormholeError) {
      lock = try FileLock(.exclusive, "\(directory)/\(file).cursor", timeout: .zero)
    } catch .busy {
      throw .cursorInUse(cursor)
    }
  }

  func position() throws(WormholeError) -> UInt64 {
    let number = try store.find { (log) throws(WormholeError) in
      try log.integer("SELECT number FROM cursors WHERE name = ?", .text(cursor))
    }
    return UInt64(clamping: number ?? 0)
  }

  func advance(to number: UInt64) throws(WormholeError) {
    try store.write { (log) throws(WormholeError) in
      try log.run(
        "INSERT OR REPLACE INTO cursors VALUES(?, ?)", .text(cursor),
        .integer(Int64(clamping: number)))
    }
  }
}
