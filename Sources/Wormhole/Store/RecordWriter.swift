// Appends records, in a transaction.

internal import FoundationEssentials
internal import Glibc

/// The rules by which a name gets its records. The trigger of ``StoreSchema`` has the same rules.
package struct RecordWriter {
  let connection: SQLiteConnection

  package init(connection: SQLiteConnection) {
    self.connection = connection
  }

  /// A name, with its last record.
  package struct Place {
    package let id: Int64
    package var keep: Int64

    /// The row id of the last record; without one, that of the number 0.
    package var last: Int64
    var time: Int64 = .min
    var nth: Int64 = 0
    var newest: Int64 = 0

    /// The row id of the number 0.
    package var start: Int64 { id << 40 }
    var number: Int64 { last - start }
  }

  private static let maxNumber: Int64 = 1 << 40 - 1

  /// Finds a name, `nil` if it was never used.
  package func find(_ name: String) throws(WormholeError) -> Place? {
    let statement = try connection.statement(Self.selectPlace)
    defer { statement.reset() }
    try statement.bind(name, at: 1)
    guard try statement.step() else { return nil }
    guard let id = statement.integer(0), let keep = statement.integer(1) else {
      throw .damaged(path: connection.path)
    }
    guard let last = statement.integer(2) else { return Place(id: id, keep: keep, last: id << 40) }
    return Place(
      id: id, keep: keep, last: last, time: statement.integer(3) ?? 0,
      nth: statement.integer(4) ?? 0, newest: statement.integer(5) ?? 0)
  }

  /// Finds a name, or creates it without records.
  package func findOrMake(_ name: String, keep: Int64 = 1) throws(WormholeError) -> Place {
    if let place = try find(name) { return place }
    try connection.run("INSERT INTO names(name, keep) VALUES(?, ?)", .text(name), .integer(keep))
    let id = connection.lastInsertedRow
    return Place(id: id, keep: keep, last: id << 40)
  }

  /// Appends a record, and removes those that its name need no longer keep. Returns its number.
  package func append(_ draft: RecordDraft, to name: String) throws(WormholeError) -> UInt64 {
    let keep = Int64(max(1, draft.keep ?? 1))
    var place = try findOrMake(name, keep: keep)
    if keep > place.keep {
      try connection.run(
        "UPDATE names SET keep = ? WHERE id = ?", .integer(keep), .integer(place.id))
      place.keep = keep
    }
    guard place.number < Self.maxNumber, place.time < .max, place.nth < .max else {
      throw .damaged(path: connection.path).with(reason: "\(name) has no next number or time")
    }
    place.last += 1
    place.time = max(draft.time ?? now(), place.time + 1)
    switch draft.content {
    case .value(let value):
      place.nth += 1
      place.newest = place.number
      try insert(value, draft.sender, at: place)
    case .ping: try insert(.ping, draft.sender, at: place)
    case .cleared, .unreadable:
      place.newest = 0
      try insert(.cleared, draft.sender, at: place)
      try delete(after: place.start, upTo: place.last - 1, .max)
    }
    try trim(place)
    return UInt64(place.number)
  }

  /// Removes messages and pings that need not be kept, several at a time: removing one by itself
  /// would cost as much as passing a message.
  private func trim(_ place: Place) throws(WormholeError) {
    let batch = max(1, min(Self.maxTrimCount, place.keep / 16))
    guard place.number % batch == 0, place.number > place.keep else { return }
    try delete(after: place.start, upTo: place.last - place.keep, place.nth - place.keep)
  }

  /// Removes a bounded number of messages and pings. Returns whether there may be more.
  func trim(
    _ place: Place, to keep: Int64, atMost count: Int64
  ) throws(WormholeError) -> Bool {
    try connection.run(
      """
      DELETE FROM records WHERE id IN (
        SELECT id FROM records WHERE id > ? AND id <= ? AND (kind = 2 OR nth <= ?) LIMIT ?)
      """, .integer(place.start), .integer(place.last - keep), .integer(place.nth - keep),
      .integer(count))
    return connection.changedRowCount == count
  }

  private static let maxTrimCount: Int64 = 1_024

  /// Removes records between two row ids: pings and clearings, and messages up to one of the name.
  private func delete(
    after start: Int64, upTo end: Int64, _ nth: Int64
  ) throws(WormholeError) {
    let statement = try connection.statement(
      "DELETE FROM records WHERE id > ? AND id <= ? AND (kind = 2 OR nth <= ?)")
    defer { statement.reset() }
    try statement.bind(start, at: 1)
    try statement.bind(end, at: 2)
    try statement.bind(nth, at: 3)
    _ = try statement.step()
  }

  private func insert(
    _ value: StoredValue, _ sender: StoredSender, at place: Place
  ) throws(WormholeError) {
    let statement = try bind(.message, sender, at: place)
    defer { statement.clear() }
    try statement.bind(value.codec, at: 10)
    if let type = value.type { try statement.bind(type, at: 11) }
    try statement.bind(value.version.map { Int64($0) }, at: 12)
    try statement.withBlob(value.data, at: 13) { () throws(WormholeError) in
      defer { statement.reset() }
      _ = try statement.step()
    }
  }

  private func insert(
    _ kind: RecordKind, _ sender: StoredSender, at place: Place
  ) throws(WormholeError) {
    let statement = try bind(kind, sender, at: place)
    defer { statement.clear() }
    _ = try statement.step()
  }

  private func bind(
    _ kind: RecordKind, _ sender: StoredSender, at place: Place
  ) throws(WormholeError) -> SQLiteStatement {
    let statement = try connection.statement(
      "INSERT INTO records VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    try statement.bind(place.last, at: 1)
    try statement.bind(kind.rawValue, at: 2)
    try statement.bind(place.time, at: 3)
    try statement.bind(place.nth, at: 4)
    try statement.bind(place.newest, at: 5)
    try statement.bind(Int64(sender.pid), at: 6)
    try statement.bind(Int64(bitPattern: sender.process), at: 7)
    if let program = sender.program { try statement.bind(program, at: 8) }
    if let machine = sender.machine { try statement.bind(machine, at: 9) }
    return statement
  }

  private static let selectPlace = """
    SELECT names.id, keep, last.id, time, nth, newest
    FROM names LEFT JOIN records AS last ON last.id =
      (SELECT max(id) FROM records WHERE id > names.id << 40 AND id < names.id + 1 << 40)
    WHERE name = ?
    """
}

/// The column `kind`.
enum RecordKind: Int64 {
  case message = 1
  case ping = 2
  case cleared = 3
}

/// Nanoseconds since 1970.
private func now() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
