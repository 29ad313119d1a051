// Stores how far a reader has come.

internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// The number of the last record that a reader has handled. No other reader, in any process, can
/// open the cursor while this object lives.
package final class StoreCursor: Sendable {
  package let cursor: String
  package let name: String
  private let id: Int64
  private let store: MessageStore
  private let descriptor: CInt
  private let process = getpid()

  fileprivate init(
    _ cursor: String, of name: String, id: Int64, in store: MessageStore
  ) throws(WormholeError) {
    (self.cursor, self.name, self.id, self.store) = (cursor, name, id, store)
    descriptor = try CursorLock.take(id, beside: store.path, cursor)
  }

  deinit {
    if process == getpid() { CursorLock.release(descriptor, id) }
  }

  /// Returns the number, 0 if nothing has been handled yet.
  package func position(within limit: WorkLimit? = nil) throws(WormholeError) -> UInt64 {
    let number =
      try store.read(within: limit) { (connection) throws(WormholeError) in
        try connection.integer("SELECT number FROM cursors WHERE id = ?", .integer(id))
      } ?? nil
    return UInt64(clamping: number ?? 0)
  }

  /// Stores that the records up to a number have been handled.
  ///
  /// - Throws: ``WormholeError/cursorNotStored``, with the reason.
  package func advance(
    to number: UInt64, within limit: WorkLimit? = nil
  ) throws(WormholeError) {
    do throws(WormholeError) {
      try store.write(within: limit) { (connection) throws(WormholeError) in
        try connection.run(
          "UPDATE cursors SET number = max(number, ?) WHERE id = ?",
          .integer(Int64(clamping: number)), .integer(id))
        guard connection.changedRowCount == 1 else {
          throw .damaged(path: store.path).with(reason: "the cursor was removed")
        }
      }
    } catch {
      throw .cursorNotStored(cursor, reason: "\(error)")
    }
  }
}

extension MessageStore {
  /// Opens the cursor of a reader. A new one is before the first record.
  ///
  /// - Throws: ``WormholeError/cursorInUse`` while another reader has it.
  package func openCursor(
    _ cursor: String, of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> StoreCursor {
    try check(name)
    try check(cursor)
    let found = try findCursor(cursor, of: name, within: limit)
    let id = if let found { found } else { try makeCursor(cursor, of: name, limit) }
    return try StoreCursor(cursor, of: name, id: id, in: self)
  }

  private func findCursor(
    _ cursor: String, of name: String, within limit: WorkLimit?
  ) throws(WormholeError) -> Int64? {
    try read(within: limit) { (connection) throws(WormholeError) in
      try connection.integer(
        """
        SELECT cursors.id FROM names JOIN cursors ON cursors.name = names.id
        WHERE names.name = ? AND cursor = ?
        """, .text(name), .text(cursor))
    } ?? nil
  }

  private func makeCursor(
    _ cursor: String, of name: String, _ limit: WorkLimit?
  ) throws(WormholeError) -> Int64 {
    try write(within: limit) { (connection) throws(WormholeError) in
      let place = try RecordWriter(connection: connection).findOrMake(name)
      try connection.run(
        "INSERT INTO cursors(name, cursor, number) VALUES(?, ?, 0) ON CONFLICT DO NOTHING",
        .integer(place.id), .text(cursor))
      let id = try connection.integer(
        "SELECT id FROM cursors WHERE name = ? AND cursor = ?", .integer(place.id), .text(cursor))
      guard let id else { throw .damaged(path: path) }
      return id
    }
  }

  /// Returns the cursors of a name, in the order of their names.
  package func cursors(
    of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> [(name: String, number: UInt64, lag: Int)] {
    let found = try read(within: limit) { (connection) throws(WormholeError) in
      try connection.rows(
        """
        SELECT cursor, number, (SELECT count(*) FROM records
          WHERE records.id > names.id << 40 | number AND records.id < names.id + 1 << 40)
        FROM names JOIN cursors ON cursors.name = names.id WHERE names.name = ? ORDER BY cursor
        """, .text(name)
      ) { (row) throws(WormholeError) in
        row.validText(0).map { cursor in
          (
            name: cursor, number: UInt64(clamping: row.integer(1) ?? 0),
            lag: Int(row.integer(2) ?? 0)
          )
        }
      }
    }
    return (found ?? []).compactMap { $0 }
  }

  /// Removes a cursor. If it does not exist, nothing happens.
  ///
  /// - Throws: ``WormholeError/cursorInUse`` while a reader has it.
  package func removeCursor(
    _ cursor: String, of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) {
    guard let id = try findCursor(cursor, of: name, within: limit) else { return }
    let opened = try StoreCursor(cursor, of: name, id: id, in: self)
    try write(within: limit) { (connection) throws(WormholeError) in
      try connection.run("DELETE FROM cursors WHERE id = ?", .integer(id))
    }
    withExtendedLifetime(opened) {}
  }
}

/// Reserves cursors, each by a lock on one byte of a file. The kernel releases it when the process
/// dies.
private enum CursorLock {
  static func take(
    _ id: Int64, beside store: String, _ cursor: String
  ) throws(WormholeError) -> CInt {
    let path = "\(store)-cursors"
    let descriptor = LockDescriptors.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ELOOP ? .foreign(path: path) : .system(code: errno, path: path)
    }
    guard set(F_WRLCK, id, of: descriptor) else {
      let code = errno
      LockDescriptors.close(descriptor)
      throw code == EAGAIN ? .cursorInUse(cursor) : .system(code: code, path: path)
    }
    return descriptor
  }

  static func release(_ descriptor: CInt, _ id: Int64) {
    // Closing is not enough: a child created meanwhile by `_Fork()` also has the descriptor.
    _ = set(F_UNLCK, id, of: descriptor)
    LockDescriptors.close(descriptor)
  }

  private static func set(_ type: CInt, _ id: Int64, of descriptor: CInt) -> Bool {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_start = Int(id)
    lock.l_len = 1
    return fcntl(descriptor, CInt(LINUX_F_OFD_SETLK), &lock) == 0
  }
}
