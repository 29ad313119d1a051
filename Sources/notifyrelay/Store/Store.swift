// Remembers across restarts how far everything has got.

import Wormhole

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

/// How far the records of a name of this machine have been published.
struct SentRow {
  /// The number of the last record that the broker has.
  var sent: UInt64 = 0
  /// The number of the last record from before the group was shared.
  var floor: UInt64 = 0
  /// The identity of the store that has given the numbers.
  var identity: Int64 = 0
  /// Distinguishes these numbers from those that the name had in another store, or before the store
  /// was restored from a copy.
  var epoch: UInt64 = 0
}

/// The tables of the relay. A change is kept once ``commit()`` has returned.
final class Store {
  private let database: StateDatabase

  private static let version: Int64 = 4
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
    CREATE TABLE IF NOT EXISTS sent(
      realm TEXT, grp TEXT, name TEXT, number INTEGER, floor INTEGER, identity INTEGER,
      epoch INTEGER, PRIMARY KEY(realm, grp, name)) WITHOUT ROWID;
    """

  init(in directory: String) throws(Mistake) {
    let path = "\(directory)/state.sqlite"
    do {
      database = try StateDatabase(path, version: Self.version, schema: Self.schema)
    } catch WormholeError.unknownFormat {
      throw Mistake("\(path) was written by another version of notifyrelay")
    } catch {
      throw Mistake("\(path) cannot be opened: \(error)", status: 2)
    }
  }

  /// Whether there is something to commit.
  var hasChanges: Bool { database.isChanging }

  func commit() throws(WormholeError) {
    try database.commit()
  }

  // MARK: Names

  /// The number of the table that counted the posts when the relay last started.
  var table: UInt64? {
    get throws(WormholeError) {
      try database.rows("SELECT counter FROM start").first?.number(0)
    }
  }

  func setTable(_ table: UInt64) throws(WormholeError) {
    try database.change(
      "INSERT OR REPLACE INTO start(rowid, counter) VALUES(1, ?)", .number(table))
  }

  func names() throws(WormholeError) -> [(name: String, row: NameRow)] {
    try database.rows("SELECT * FROM names").map { row in
      let values = NameRow(
        count: row.number(1), posted: row.signed(2),
        peek: UInt32(truncatingIfNeeded: row.number(3)), state: row.number(4),
        stateSet: row.signed(5), stateOrigin: Origin(number: row.number(6)))
      return (row.text(0), values)
    }
  }

  func set(_ row: NameRow, of name: String) throws(WormholeError) {
    try database.change(
      "INSERT OR REPLACE INTO names VALUES(?, ?, ?, ?, ?, ?, ?)", .text(name), .number(row.count),
      .integer(row.posted), .number(UInt64(row.peek)), .number(row.state), .integer(row.stateSet),
      .number(row.stateOrigin.number))
  }

  /// The states that were taken over last. They are stored before they are set, the rows later.
  func takenStates() throws(WormholeError) -> [String: TakenState] {
    let states = try database.rows("SELECT * FROM taken").map { row in
      let origin = Origin(number: row.number(3))
      return (row.text(0), TakenState(state: row.number(1), set: row.signed(2), origin: origin))
    }
    // Strings that are spelled differently may be equal.
    return Dictionary(states) { $1 }
  }

  func set(_ taken: TakenState, of name: String) throws(WormholeError) {
    try database.change(
      "INSERT OR REPLACE INTO taken VALUES(?, ?, ?, ?)", .text(name), .number(taken.state),
      .integer(taken.set), .number(taken.origin.number))
  }

  // MARK: Other origins

  /// The origins that were ever met, and whether all that the broker kept of them then is known.
  func origins(in realm: String) throws(WormholeError) -> [Origin: Bool] {
    let rows = try database.rows(
      "SELECT origin, is_known FROM origins WHERE realm = ?", .text(realm)
    ).map { (Origin(number: $0.number(0)), $0.number(1) != 0) }
    return Dictionary(rows) { $1 }
  }

  func set(_ origin: Origin, isKnown: Bool, in realm: String) throws(WormholeError) {
    try database.change(
      "INSERT OR REPLACE INTO origins VALUES(?, ?, ?)", .text(realm), .number(origin.number),
      .number(isKnown ? 1 : 0))
  }

  /// How many posts of a name by an origin have been passed on.
  func seen(_ name: String, by origin: Origin, in realm: String) throws(WormholeError) -> UInt64? {
    try database.rows(
      "SELECT count FROM seen WHERE realm = ? AND origin = ? AND name = ?",
      .text(realm), .number(origin.number), .text(name)
    ).first?.number(0)
  }

  func setSeen(
    _ count: UInt64, of name: String, by origin: Origin, in realm: String
  ) throws(WormholeError) {
    try database.change(
      "INSERT OR REPLACE INTO seen VALUES(?, ?, ?, ?)", .text(realm), .number(origin.number),
      .text(name), .number(count))
  }

  // MARK: Records

  /// How far the records of a name of this machine have been published, `nil` if that is unknown.
  func sent(of address: MessageAddress, in realm: String) throws(WormholeError) -> SentRow? {
    try database.rows(
      "SELECT number, floor, identity, epoch FROM sent WHERE realm = ? AND grp = ? AND name = ?",
      .text(realm), .text(address.group), .text(address.name)
    ).first.map { row in
      SentRow(
        sent: row.number(0), floor: row.number(1), identity: row.signed(2), epoch: row.number(3))
    }
  }

  func set(_ row: SentRow, of address: MessageAddress, in realm: String) throws(WormholeError) {
    try database.change(
      "INSERT OR REPLACE INTO sent VALUES(?, ?, ?, ?, ?, ?, ?)", .text(realm),
      .text(address.group), .text(address.name), .number(row.sent), .number(row.floor),
      .integer(row.identity), .number(row.epoch))
  }
}

extension SQLiteField {
  /// All numbers fit into the integers of SQLite, as their bits.
  fileprivate static func number(_ number: UInt64) -> Self { .integer(Int64(bitPattern: number)) }
}

/// Rows that another program has written may have other types and fewer columns.
extension [SQLiteField] {
  fileprivate func signed(_ column: Int) -> Int64 {
    if case .integer(let number) = field(column) { number } else { 0 }
  }

  fileprivate func number(_ column: Int) -> UInt64 { UInt64(bitPattern: signed(column)) }

  fileprivate func text(_ column: Int) -> String {
    if case .text(let text) = field(column) { text } else { "" }
  }

  private func field(_ column: Int) -> SQLiteField { column < count ? self[column] : .null }
}
