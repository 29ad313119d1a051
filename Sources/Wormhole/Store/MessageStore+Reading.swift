// Reads the records of a store.

internal import FoundationEssentials

extension MessageStore {
  /// Returns the newest message of a name, `nil` if there is none. Pings do not count.
  package func newest(
    of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> StoredRecord? {
    try newestState(of: name, within: limit).newest
  }

  /// The newest message of a name, with the position after its last record.
  struct NewestState: Sendable {
    var newest: StoredRecord?
    var last: UInt64 = 0
    var identity: Int64 = 0
  }

  func newestState(
    of name: String, within limit: WorkLimit?
  ) throws(WormholeError) -> NewestState {
    try read(within: limit) { (connection) throws(WormholeError) in
      try NewestState(of: name, in: connection)
    } ?? NewestState()
  }

  /// Returns the newest message or clearing of a name, if there was any. A clearing shows who
  /// removed the messages.
  package func newestChange(
    of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> StoredBatch {
    try read(within: limit) { (connection) throws(WormholeError) in
      var batch = StoredBatch(identity: try connection.storeIdentity(), file: connection.file)
      guard let place = try RecordWriter(connection: connection).find(name) else { return batch }
      batch.last = UInt64(clamping: place.number)
      batch.records = try connection.rows(
        """
        SELECT \(RecordReader.columns) FROM records
        WHERE id > ? AND id <= ? AND kind <> 2 ORDER BY id DESC LIMIT 1
        """, .integer(place.start), .integer(place.last), make: RecordReader.record)
      return batch
    } ?? StoredBatch()
  }

  /// Returns records after a number, in their order.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - number: the number of the last known record, 0 for none.
  ///   - count: the largest number of records. Together they have at most 1 MiB, unless there
  ///     is only one.
  ///   - limit: how long it may take.
  /// - Returns: the records, with the position of the last one of the name.
  /// - Throws: ``WormholeError``. A record that cannot be read has its error as content.
  package func records(
    of name: String, after number: UInt64, limit count: Int, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> StoredBatch {
    try read(within: limit) { (connection) throws(WormholeError) in
      var batch = StoredBatch(identity: try connection.storeIdentity(), file: connection.file)
      guard let place = try RecordWriter(connection: connection).find(name) else { return batch }
      (batch.last, batch.keep) = (UInt64(clamping: place.number), Int(clamping: place.keep))
      guard number < batch.last, count > 0 else { return batch }
      try RecordReader(connection: connection).read(
        from: place.start | Int64(number), upTo: place.last, count, into: &batch)
      return batch
    } ?? StoredBatch()
  }

  /// Returns the position after the last record of a name: what ``records(of:after:limit:within:)``
  /// returns without records.
  package func position(
    of name: String, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> StoredBatch {
    try records(of: name, after: .max, limit: 0, within: limit)
  }

  /// Returns the messages of a name after a number, without pings and clearings.
  package func history(
    of name: String, after number: UInt64 = 0, within limit: WorkLimit? = nil
  ) throws(WormholeError) -> [StoredRecord] {
    var records: [StoredRecord] = []
    var (position, end) = (number, UInt64?.none)
    while true {
      if let failure = limit?.failure { throw failure }
      let batch = try self.records(of: name, after: position, limit: 256, within: limit)
      // Messages that others pass meanwhile are left out.
      let last = end ?? batch.last
      end = last
      records += batch.records.filter { $0.number <= last && $0.isMessage }
      guard batch.hasMore, let next = batch.records.last?.number, next < last else {
        return records
      }
      position = next
    }
  }
}

extension MessageStore.NewestState {
  init(of name: String, in connection: SQLiteConnection) throws(WormholeError) {
    identity = try connection.storeIdentity()
    guard let place = try RecordWriter(connection: connection).find(name) else { return }
    last = UInt64(clamping: place.number)
    guard place.newest > 0 else { return }
    newest = try connection.rows(
      "SELECT \(RecordReader.columns) FROM records WHERE id = ?",
      .integer(place.start | place.newest), make: RecordReader.record
    ).first
  }

  /// Whether the name has had no other record since.
  func isCurrent(
    of name: String, in connection: SQLiteConnection
  ) throws(WormholeError) -> Bool {
    let number = try RecordWriter(connection: connection).find(name)?.number ?? 0
    guard number == Int64(last), number > 0 else { return number == Int64(last) }
    return try connection.storeIdentity() == identity
  }
}

extension StoredRecord {
  /// Whether it is a message, readable or not.
  package var isMessage: Bool {
    switch content {
    case .value, .unreadable: true
    case .ping, .cleared: false
    }
  }
}

/// Makes records of rows, which another program may have written: every column is checked.
struct RecordReader {
  let connection: SQLiteConnection

  /// A value that is too large is not even loaded.
  static let columns = """
    id, kind, time, pid, process, program, machine, codec, type, version, length(value),
    CASE WHEN length(value) <= \(StoredValue.maxBytes) THEN value END
    """

  private static let select = """
    SELECT \(columns) FROM records WHERE id > ? AND id <= ? ORDER BY id LIMIT ?
    """

  /// Adds the records between two row ids to a batch.
  func read(
    from start: Int64, upTo end: Int64, _ count: Int, into batch: inout StoredBatch
  ) throws(WormholeError) {
    let statement = try connection.statement(Self.select)
    defer { statement.reset() }
    try statement.bind(start, at: 1)
    try statement.bind(end, at: 2)
    try statement.bind(Int64(clamping: count).addingReportingOverflow(1).partialValue, at: 3)
    var bytes = 0
    while try statement.step() {
      bytes += Int(clamping: statement.integer(10) ?? 0)
      let isFull = bytes > StoredBatch.maxBytes && !batch.records.isEmpty
      guard batch.records.count < count, !isFull else {
        batch.hasMore = true
        return
      }
      batch.records.append(Self.record(statement))
    }
  }

  static func record(_ row: SQLiteStatement) -> StoredRecord {
    StoredRecord(
      number: UInt64((row.integer(0) ?? 0) & 0xff_ffff_ffff), content: content(row),
      time: row.integer(2) ?? 0,
      sender: StoredSender(
        pid: row.integer(3).flatMap { Int32(exactly: $0) } ?? 0,
        process: row.integer(4).map { UInt64(bitPattern: $0) } ?? 0,
        program: row.text(ifShort: 5), machine: row.text(ifShort: 6)))
  }

  private static func content(_ row: SQLiteStatement) -> StoredContent {
    switch row.integer(1).flatMap(RecordKind.init) {
    case .message: message(row)
    case .ping: .ping
    case .cleared: .cleared
    case nil: .unreadable(.decoding("a record of an unknown kind"))
    }
  }

  private static func message(_ row: SQLiteStatement) -> StoredContent {
    let bytes = Int(clamping: row.integer(10) ?? 0)
    guard bytes <= StoredValue.maxBytes else {
      return .unreadable(.tooLarge(bytes: bytes, limit: StoredValue.maxBytes))
    }
    guard case .blob(let data) = row.field(11) else {
      return .unreadable(.decoding("a message without a value"))
    }
    guard let codec = row.text(ifShort: 7), let version = version(row) else {
      return .unreadable(.decoding("a message without a codec, or with an unknown version"))
    }
    return .value(
      StoredValue(codec: codec, type: row.text(ifShort: 8), version: version.value, data: data))
  }

  /// The version, which may be missing; `nil` if it is not a version.
  private static func version(_ row: SQLiteStatement) -> (value: UInt32?, Void)? {
    switch row.field(9) {
    case .null: (nil, ())
    case .integer(let number): UInt32(exactly: number).map { ($0, ()) }
    default: nil
    }
  }
}

extension SQLiteStatement {
  /// The text in a column, `nil` if there is none, or it is longer than any that this library
  /// writes.
  fileprivate func text(ifShort column: Int32) -> String? {
    guard byteCount(column) <= 4 * MessageStore.maxNameBytes, case .text(let text) = field(column)
    else { return nil }
    return text
  }
}

extension SQLiteConnection {
  /// The random number that the store got when it was created.
  func storeIdentity() throws(WormholeError) -> Int64 {
    guard let identity = try integer("SELECT identity FROM store") else {
      throw .damaged(path: path).with(reason: "it has no identity")
    }
    return identity
  }
}
