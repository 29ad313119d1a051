// Stores how far a reader has come.

internal import CLinux
internal import FoundationEssentials
internal import Glibc

/// The position after the last record that a reader has handled. No other reader, in any process,
/// can open the cursor while this object lives.
package final class StoreCursor: Sendable {
  package let cursor: String
  package let name: String
  private let store: MessageStore
  private let lock: Locked<CursorLock>

  fileprivate init(
    _ cursor: String, of name: String, in store: MessageStore, within limit: WorkLimit?
  ) throws(WormholeError) {
    (self.cursor, self.name, self.store) = (cursor, name, store)
    lock = Locked(try store.reserve(cursor, of: name, within: limit))
  }

  /// Returns the number, 0 if nothing has been handled yet.
  package func position(within limit: WorkLimit? = nil) throws(WormholeError) -> UInt64 {
    UInt64(clamping: try store.findCursor(cursor, of: name, within: limit)?.number ?? 0)
  }

  /// Stores that the records up to a position have been handled. If another store has replaced the
  /// cursor's, recreates the cursor there.
  ///
  /// - Throws: ``WormholeError/cursorNotStored``, with the reason.
  package func advance(
    to position: StoredPosition, within limit: WorkLimit? = nil
  ) throws(WormholeError) {
    let limit = limit ?? WorkLimit()
    do throws(WormholeError) {
      while try !update(to: position, within: limit) {
        let new = try store.reserve(cursor, of: name, within: limit)
        let old = lock.withLock { lock in
          defer { lock = new }
          return lock
        }
        // Its file is not closed while others wait.
        withExtendedLifetime(old) {}
      }
    } catch {
      throw .cursorNotStored(cursor, reason: "\(error)")
    }
  }

  /// Returns false if the store was replaced since the cursor was reserved.
  private func update(
    to position: StoredPosition, within limit: WorkLimit?
  ) throws(WormholeError) -> Bool {
    let place = lock.withLock { $0.place }
    return try store.write(within: limit) { (connection) throws(WormholeError) in
      let identity = try connection.storeIdentity()
      guard identity == place.identity else { return false }
      // A number of the replaced store means nothing here.
      guard position.isComparable(to: StoredPosition(identity: identity)) else { return true }
      try connection.run(
        """
        UPDATE cursors SET number = max(number, ?)
        WHERE id = ? AND cursor = ? AND name = (SELECT id FROM names WHERE name = ?)
        """,
        .integer(Int64(clamping: position.number)), .integer(place.id), .text(cursor), .text(name))
      guard connection.changedRowCount == 1 else {
        throw .damaged(path: store.path).with(reason: "the cursor was removed")
      }
      return true
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
    return try StoreCursor(cursor, of: name, in: self, within: limit)
  }

  /// Finds or creates a cursor, and reserves it.
  fileprivate func reserve(
    _ cursor: String, of name: String, within limit: WorkLimit?
  ) throws(WormholeError) -> CursorLock {
    let limit = limit ?? WorkLimit()
    while true {
      let found = try findCursor(cursor, of: name, within: limit)
      let place = if let found { found } else { try makeCursor(cursor, of: name, limit) }
      let lock = try CursorLock(place, beside: path, cursor)
      // Before we locked it, it may have been removed and its row given to another cursor.
      if try findCursor(cursor, of: name, within: limit)?.byte == place.byte { return lock }
    }
  }

  fileprivate func findCursor(
    _ cursor: String, of name: String, within limit: WorkLimit?
  ) throws(WormholeError) -> CursorPlace? {
    try read(within: limit) { (connection) throws(WormholeError) in
      try connection.findCursor(cursor, of: name)
    } ?? nil
  }

  private func makeCursor(
    _ cursor: String, of name: String, _ limit: WorkLimit?
  ) throws(WormholeError) -> CursorPlace {
    try write(within: limit) { (connection) throws(WormholeError) in
      let place = try RecordWriter(connection: connection).findOrMake(name)
      try connection.run(
        "INSERT INTO cursors(name, cursor, number) VALUES(?, ?, 0) ON CONFLICT DO NOTHING",
        .integer(place.id), .text(cursor))
      guard let found = try connection.findCursor(cursor, of: name) else {
        throw .damaged(path: path)
      }
      return found
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
    let limit = limit ?? WorkLimit()
    guard let place = try findCursor(cursor, of: name, within: limit) else { return }
    let lock = try CursorLock(place, beside: path, cursor)
    try write(within: limit) { (connection) throws(WormholeError) in
      // Before it was locked, its row may have become that of another one.
      guard try connection.findCursor(cursor, of: name)?.byte == place.byte else { return }
      try connection.run("DELETE FROM cursors WHERE id = ?", .integer(place.id))
    }
    withExtendedLifetime(lock) {}
  }
}

/// The row of a cursor.
private struct CursorPlace {
  let id: Int64
  let number: Int64

  /// The identity of the store.
  let identity: Int64

  /// The byte of the lock file that stands for the cursor. Readers of a replaced store may still
  /// have locks in the file, but on other bytes.
  var byte: Int { Int(identity &+ id) & .max }
}

extension SQLiteConnection {
  fileprivate func findCursor(
    _ cursor: String, of name: String
  ) throws(WormholeError) -> CursorPlace? {
    try rows(
      """
      SELECT cursors.id, number, identity
      FROM store, names JOIN cursors ON cursors.name = names.id
      WHERE names.name = ? AND cursor = ?
      """, .text(name), .text(cursor)
    ) { (row) throws(WormholeError) in
      CursorPlace(
        id: row.integer(0) ?? 0, number: row.integer(1) ?? 0, identity: row.integer(2) ?? 0)
    }.first
  }
}

/// Reserves a cursor by a lock on one byte of a file. The kernel releases it when the process dies.
private final class CursorLock: Sendable {
  let place: CursorPlace
  private let descriptor: CInt
  private let process = getpid()

  init(_ place: CursorPlace, beside store: String, _ cursor: String) throws(WormholeError) {
    self.place = place
    descriptor = try Self.take(place.byte, beside: store, cursor)
  }

  deinit {
    guard process == getpid() else { return }
    // Closing is not enough: a child created meanwhile by `_Fork()` also has the descriptor.
    _ = Self.set(F_UNLCK, place.byte, of: descriptor)
    LockDescriptors.close(descriptor)
  }

  private static func take(
    _ byte: Int, beside store: String, _ cursor: String
  ) throws(WormholeError) -> CInt {
    let path = "\(store)-cursors"
    let descriptor = LockDescriptors.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ELOOP ? .foreign(path: path) : .system(code: errno, path: path)
    }
    guard set(F_WRLCK, byte, of: descriptor) else {
      let code = errno
      LockDescriptors.close(descriptor)
      throw code == EAGAIN ? .cursorInUse(cursor) : .system(code: code, path: path)
    }
    return descriptor
  }

  private static func set(_ type: CInt, _ byte: Int, of descriptor: CInt) -> Bool {
    var lock = flock()
    lock.l_type = Int16(type)
    lock.l_start = byte
    lock.l_len = 1
    return fcntl(descriptor, CInt(LINUX_F_OFD_SETLK), &lock) == 0
  }
}
