// Lists and bounds the names of a store.

extension MessageStore {
  /// Returns the names that begin with a text, in the order of their bytes. Names that are not
  /// valid UTF-8, which only another program can have written, are left out.
  package func names(
    prefix: String = "", within limit: WorkLimit? = nil
  ) throws(WormholeError) -> [StoredName] {
    try read(within: limit) { (connection) throws(WormholeError) in
      try connection.storedNames(prefix: prefix)
    } ?? []
  }

  /// Sets how many messages a name keeps, more or fewer than before, and removes the others, a
  /// bounded number at a time. Nobody is notified.
  package func setKeep(
    _ count: Int, of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) {
    try check(name)
    let limit = limit ?? WorkLimit()
    let keep = Int64(max(1, count))
    var isMore = true
    while isMore {
      isMore = try write(within: limit) { (connection) throws(WormholeError) in
        let writer = RecordWriter(connection: connection)
        let place = try writer.findOrMake(name, keep: keep)
        // Another process may raise it meanwhile; the next turn lowers it again.
        try connection.run(
          "UPDATE names SET keep = ? WHERE id = ?", .integer(keep), .integer(place.id))
        return try writer.trim(place, to: keep, atMost: Self.removedAtATime)
      }
      limit.restartWaits()
    }
  }

  private static let removedAtATime: Int64 = 1_000
}

extension SQLiteConnection {
  /// Returns the names that begin with a text.
  func storedNames(prefix: String) throws(WormholeError) -> [StoredName] {
    // Text is compared by its bytes, and no byte of UTF-8 is 0xff.
    try rows(
      """
      SELECT name, keep, last.id & 0xffffffffff, newest
      FROM names LEFT JOIN records AS last ON last.id =
        (SELECT max(id) FROM records WHERE id > names.id << 40 AND id < names.id + 1 << 40)
      WHERE name >= ?1 AND name < ?1 || CAST(x'ff' AS TEXT) ORDER BY name
      """, .text(prefix)
    ) { (row) throws(WormholeError) in
      row.validText(0).map { name in
        StoredName(
          name: name, keep: Int(clamping: row.integer(1) ?? 1),
          last: UInt64(clamping: row.integer(2) ?? 0), hasMessage: (row.integer(3) ?? 0) > 0)
      }
    }.compactMap { $0 }
  }
}
