// Stores the records of other machines.

import Wormhole

/// A record that a relay brought from another machine.
struct ForeignRecord: Sendable {
  /// Where its number was assigned: the machine, and its store there.
  var machine: String
  var epoch: UInt64

  var number: UInt64

  /// A number that the machine passed on earlier, with no record of its own in between.
  var previous: UInt64

  /// What to store; `nil` if it is too large for this machine, which then continues without it. Its
  /// time decides between machines.
  var draft: RecordDraft?

  init(
    _ number: UInt64, after previous: UInt64, of machine: String, epoch: UInt64,
    draft: RecordDraft?
  ) {
    (self.number, self.previous, self.machine) = (number, previous, machine)
    (self.epoch, self.draft) = (epoch, draft)
  }
}

/// What happened to a record of another machine.
enum ForeignResult: Sendable, Equatable {
  case stored

  /// It has been received before.
  case repeated

  /// The record here is newer.
  case superseded

  /// Records between this number and its own must come first.
  case missing(after: UInt64)

  /// There are too many names.
  case refused
}

extension MessageStore {
  /// Stores a record of another machine once, then posts the change notification.
  ///
  /// If the name keeps more than one message, here or there, its records are appended in the order
  /// of their machine. Otherwise, and always if it clears the name, a record must be newer than the
  /// one here: of two records from one machine, the one with the greater number; else the one with
  /// the later time; else the one from the greater machine. So all machines agree on which is the
  /// newest.
  ///
  /// - Parameters:
  ///   - record: the record.
  ///   - name: its name.
  ///   - machine: this machine.
  ///   - isFirst: whether earlier records of the other machine may be missing.
  ///   - maxNames: the number of names at which no more are created.
  ///   - limit: until when it may take.
  /// - Returns: what happened to it. All outcomes but `missing` and `refused` are remembered.
  /// - Throws: ``WormholeError``. Nothing has changed then.
  func receive(
    _ record: ForeignRecord, of name: String, on machine: String, isFirst: Bool = false,
    maxNames: Int = .max, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> ForeignResult {
    try check(name)
    try record.draft?.check()
    let result = try write(within: limit) { (connection) throws(WormholeError) in
      let receiver = RecordReceiver(connection: connection, name: name, machine: machine)
      return try receiver.receive(record, isFirst: isFirst, maxNames: maxNames)
    }
    // It is stored. Without a bus, the notification reaches the processes that share the table.
    if result == .stored { try? announce([name]) }
    return result
  }
}

/// Receives a record in a transaction.
///
/// The progress of each machine is a cursor under the negative id of the name, which no reader
/// uses. Another such cursor holds the time that the newest record of another machine has there:
/// here it may be later, since times increase with the numbers.
private struct RecordReceiver {
  let connection: SQLiteConnection
  let name: String
  let machine: String

  private static let time = "time"

  func receive(
    _ record: ForeignRecord, isFirst: Bool, maxNames: Int
  ) throws(WormholeError) -> ForeignResult {
    let writer = RecordWriter(connection: connection)
    var place = try writer.find(name)
    let cursor = "\(record.machine) \(record.epoch)"
    let position = try place.flatMap { (place) throws(WormholeError) in
      try self.position(of: cursor, in: place)
    }
    guard record.number > position ?? 0 else { return .repeated }
    let keep = max(place?.keep ?? 1, Int64(record.draft?.keep ?? 1))
    if keep > 1, record.previous > position ?? 0, !isFirst || position != nil {
      return .missing(after: position ?? 0)
    }
    if place == nil {
      let count = try connection.integer("SELECT count(*) FROM names") ?? 0
      guard count < maxNames else { return .refused }
      place = try writer.findOrMake(name, keep: keep)
    }
    guard let place else { return .refused }
    try set(cursor, to: Int64(clamping: record.number), in: place)
    guard let draft = record.draft else { return .superseded }
    return try store(draft, in: place, keep: keep, writer)
  }

  private func store(
    _ draft: RecordDraft, in place: RecordWriter.Place, keep: Int64, _ writer: RecordWriter
  ) throws(WormholeError) -> ForeignResult {
    let mustBeNewer: Bool
    switch draft.content {
    case .ping: mustBeNewer = false
    case .value: mustBeNewer = keep == 1
    case .cleared, .unreadable: mustBeNewer = true
    }
    if mustBeNewer, try !isNewer(draft, in: place) { return .superseded }
    _ = try writer.append(draft, to: name)
    if draft.content != .ping { try set(Self.time, to: draft.time ?? 0, in: place) }
    return .stored
  }

  /// Whether a record is newer than the newest one here that is not a ping.
  private func isNewer(
    _ draft: RecordDraft, in place: RecordWriter.Place
  ) throws(WormholeError) -> Bool {
    let newest = try connection.rows(
      """
      SELECT time, machine FROM records WHERE id > ? AND id <= ? AND kind <> 2
      ORDER BY id DESC LIMIT 1
      """, .integer(place.start), .integer(place.last)
    ) { (row) throws(WormholeError) in (time: row.integer(0) ?? 0, machine: row.validText(1)) }
    .first
    guard let newest else { return true }
    let other = draft.sender.machine ?? ""
    guard newest.machine != other else { return true }
    let time = newest.machine == nil ? nil : try position(of: Self.time, in: place)
    return (draft.time ?? 0, other)
      > (time.map { Int64(clamping: $0) } ?? newest.time, newest.machine ?? machine)
  }

  private func position(
    of cursor: String, in place: RecordWriter.Place
  ) throws(WormholeError) -> UInt64? {
    try connection.integer(
      "SELECT number FROM cursors WHERE name = ? AND cursor = ?", .integer(-place.id),
      .text(cursor)
    ).map { UInt64(clamping: $0) }
  }

  private func set(
    _ cursor: String, to number: Int64, in place: RecordWriter.Place
  ) throws(WormholeError) {
    try connection.run(
      """
      INSERT INTO cursors(name, cursor, number) VALUES(?, ?, ?)
      ON CONFLICT(name, cursor) DO UPDATE SET number = excluded.number
      """, .integer(-place.id), .text(cursor), .integer(number))
  }
}
