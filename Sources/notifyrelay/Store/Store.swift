// Remembers across restarts how far everything has got.

/// The counts and state of a name on this machine.
struct NameRow {
  /// How often its posts have come from this machine.
  var count: UInt64 = 0
  /// When the last of them came, nanoseconds since 1970.
  var posted: Int64 = 0
  /// The result of `NotifyToken.peek` when it was last counted.
  var peek: UInt32 = 0
  /// The state on which all machines agree, as far as this one knows.
  var state: UInt64 = 0
  /// When it was set.
  var stateSet: Int64 = 0
  /// By whom.
  var stateOrigin = Origin(number: 0)
}

/// A state that another origin has set.
struct TakenState {
  var state: UInt64
  /// When it was set, nanoseconds since 1970.
  var set: Int64
  var origin: Origin
}

/// How far a log of another origin has got on this machine.
struct StoredLog {
  /// The number of the last record that was stored, as its origin counts.
  var stored: UInt64
  /// The number that the log of this machine gave it.
  var ownNumber: UInt64
}

/// How far a log of this machine has got.
struct SentLog {
  /// The number of the last record that the broker has.
  var sent: UInt64 = 0
  /// The number of the last record from before the log was shared.
  var floor: UInt64 = 0
}

/// The tables of the relay. A change is kept once ``commit()`` has returned.
final class Store {
  private let database: Database

  private static let version: Int64 = 3
  private static let schema = """
    CREATE TABLE IF NOT EXISTS start(counter INTEGER);
    CREATE TABLE IF NOT EXISTS names(
      name TEXT PRIMARY KEY, count INTEGER, posted INTEGER, peek INTEGER, state INTEGER,
      state_set INTEGER, state_origin INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS taken(
      name TEXT PRIMARY KEY, state INTEGER, state_set INTEGER, state_origin INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS origins(
      realm TEXT, origin INTEGER, is_known INTEGER, PRIMARY KEY(realm, origin)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS seen(
      realm TEXT, origin INTEGER, name TEXT, count INTEGER,
      PRIMARY KEY(realm, origin, name)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS stored(
      realm TEXT, origin INTEGER, grp TEXT, name TEXT, number INTEGER, own INTEGER,
      PRIMARY KEY(realm, origin, grp, name)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS sent(
      realm TEXT, grp TEXT, name TEXT, number INTEGER, floor INTEGER,
      PRIMARY KEY(realm, grp, name)) WITHOUT ROWID;
    """

  init(in directory: String) throws(Mistake) {
    database = try Database(
      "\(directory)/state.sqlite", version: Self.version, schema: Self.schema)
  }

  /// Whether there is something to commit.
  var hasChanges: Bool { database.isChanging }

  func commit() throws(Mistake) {
    try database.commit()
  }

  // MARK: Names

  /// The number of the table that counted the posts when the relay last started.
  var table: UInt64? {
    get throws(Mistake) {
      try database.rows("SELECT counter FROM start") { $0.number(0) }.first
    }
  }

  func setTable(_ table: UInt64) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO start(rowid, counter) VALUES(1, ?)", .number(table))
  }

  func names() throws(Mistake) -> [(name: String, row: NameRow)] {
    try database.rows("SELECT * FROM names") { row in
      let values = NameRow(
        count: row.number(1), posted: row.signed(2),
        peek: UInt32(truncatingIfNeeded: row.number(3)), state: row.number(4),
        stateSet: row.signed(5), stateOrigin: Origin(number: row.number(6)))
      return (row.text(0), values)
    }
  }

  func set(_ row: NameRow, of name: String) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO names VALUES(?, ?, ?, ?, ?, ?, ?)", .text(name), .number(row.count),
      .signed(row.posted), .number(UInt64(row.peek)), .number(row.state), .signed(row.stateSet),
      .number(row.stateOrigin.number))
  }

  /// The states that were taken over last. They are stored before they are set, the rows later.
  func takenStates() throws(Mistake) -> [String: TakenState] {
    let states = try database.rows("SELECT * FROM taken") { row in
      let origin = Origin(number: row.number(3))
      return (row.text(0), TakenState(state: row.number(1), set: row.signed(2), origin: origin))
    }
    // Strings that are spelled differently may be equal.
    return Dictionary(states) { $1 }
  }

  func set(_ taken: TakenState, of name: String) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO taken VALUES(?, ?, ?, ?)", .text(name), .number(taken.state),
      .signed(taken.set), .number(taken.origin.number))
  }

  // MARK: Other origins

  /// The origins that were ever met, and whether all that the broker kept of them then is known.
  func origins(in realm: String) throws(Mistake) -> [Origin: Bool] {
    let rows = try database.rows(
      "SELECT origin, is_known FROM origins WHERE realm = ?", [.text(realm)]
    ) { (Origin(number: $0.number(0)), $0.number(1) != 0) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  func set(_ origin: Origin, isKnown: Bool, in realm: String) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO origins VALUES(?, ?, ?)", .text(realm), .number(origin.number),
      .number(isKnown ? 1 : 0))
  }

  /// How many posts of a name by an origin have been passed on.
  func seen(_ name: String, by origin: Origin, in realm: String) throws(Mistake) -> UInt64? {
    try database.rows(
      "SELECT count FROM seen WHERE realm = ? AND origin = ? AND name = ?",
      [.text(realm), .number(origin.number), .text(name)]
    ) { $0.number(0) }.first
  }

  func setSeen(
    _ count: UInt64, of name: String, by origin: Origin, in realm: String
  ) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO seen VALUES(?, ?, ?, ?)", .text(realm), .number(origin.number),
      .text(name), .number(count))
  }

  // MARK: Logs

  /// How far the logs of an origin have got here.
  func stored(in realm: String) throws(Mistake) -> [Origin: [MessageAddress: StoredLog]] {
    let rows = try database.rows(
      "SELECT origin, grp, name, number, own FROM stored WHERE realm = ?", [.text(realm)]
    ) { row in
      (
        Origin(number: row.number(0)), MessageAddress(group: row.text(1), name: row.text(2)),
        StoredLog(stored: row.number(3), ownNumber: row.number(4))
      )
    }
    var stored: [Origin: [MessageAddress: StoredLog]] = [:]
    for (origin, address, row) in rows { stored[origin, default: [:]][address] = row }
    return stored
  }

  func set(
    _ row: StoredLog, of address: MessageAddress, by origin: Origin, in realm: String
  ) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO stored VALUES(?, ?, ?, ?, ?, ?)", .text(realm),
      .number(origin.number), .text(address.group), .text(address.name), .number(row.stored),
      .number(row.ownNumber))
  }

  /// How far the logs of this machine have got.
  func sent(in realm: String) throws(Mistake) -> [MessageAddress: SentLog] {
    let rows = try database.rows(
      "SELECT grp, name, number, floor FROM sent WHERE realm = ?", [.text(realm)]
    ) { row in
      let address = MessageAddress(group: row.text(0), name: row.text(1))
      return (address, SentLog(sent: row.number(2), floor: row.number(3)))
    }
    return Dictionary(rows) { $0.sent < $1.sent ? $0 : $1 }
  }

  func set(_ row: SentLog, of address: MessageAddress, in realm: String) throws(Mistake) {
    try database.change(
      "INSERT OR REPLACE INTO sent VALUES(?, ?, ?, ?, ?)", .text(realm), .text(address.group),
      .text(address.name), .number(row.sent), .number(row.floor))
  }
}
