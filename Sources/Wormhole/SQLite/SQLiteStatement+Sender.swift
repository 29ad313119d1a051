// Reads who wrote a row.

extension SQLiteStatement {
  /// Reads a sender from three columns: pid, uid and the number of the process. Returns `nil` if
  /// another program has written something else there.
  func sender(from column: Int32) -> Wormhole.Sender? {
    guard let pid = integer(column).flatMap({ Int32(exactly: $0) }),
      let uid = integer(column + 1).flatMap({ UInt32(exactly: $0) }),
      let process = integer(column + 2)
    else { return nil }
    return Wormhole.Sender(pid: pid, uid: uid, process: UInt64(bitPattern: process))
  }
}

extension Wormhole.Sender {
  /// The fields of the three columns.
  var fields: [SQLiteField] {
    [.integer(Int64(pid)), .integer(Int64(uid)), process.field]
  }
}
