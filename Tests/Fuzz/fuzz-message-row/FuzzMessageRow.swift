// Reads messages whose row in the store has arbitrary contents.

internal import Foundation
internal import FuzzSupport
@testable internal import Wormhole

private struct Value: Codable, Sendable {
  var number: Int?
  var texts: [String]?
  var data: Data?
  var date: Date?
}

/// An input, which describes a row.
///
/// Its first byte has the flags, the second the kind of the record, the next four the low bytes of
/// its number, its count and the number of the newest message, and of the version. The value
/// follows.
private struct Row {
  var codec: SQLiteField
  var type: SQLiteField
  var kind: Int64
  var number: Int64
  var nth: Int64
  var newest: Int64
  var version: SQLiteField
  var value: Data

  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count >= 6 else { return nil }
    let flags = bytes[0]
    codec = [.text("json"), .text("plist"), .text("raw"), .null][Int(flags & 3)]
    type = flags & 4 == 0 ? .null : .text("Value")
    version = flags & 8 == 0 ? .null : .integer(Int64(bytes[5]))
    // Most rows are messages with the next number, so that their values are decoded.
    kind = flags & 16 == 0 ? 1 : Int64(bytes[1])
    number = flags & 32 == 0 ? 1 : Int64(bytes[2])
    nth = flags & 64 == 0 ? 1 : Int64(Int8(bitPattern: bytes[3])) << 32
    newest = flags & 128 == 0 ? number : Int64(Int8(bitPattern: bytes[4])) << 32
    value = Data(bytes.dropFirst(6))
  }

  /// Puts it in the place of all other records.
  func insert(_ connection: SQLiteConnection) throws(WormholeError) {
    try connection.run("DELETE FROM records")
    try connection.run("INSERT OR IGNORE INTO names(id, name, keep) VALUES(1, 'name', 10)")
    try connection.run(
      """
      INSERT OR REPLACE INTO records(id, kind, time, nth, newest, codec, type, version, value)
      VALUES((1 << 40) + ?, ?, 1, ?, ?, ?, ?, ?, ?)
      """, .integer(number), .integer(kind), .integer(nth), .integer(newest), codec, type, version,
      .blob(value))
  }
}

private let directory = FuzzDirectory()

/// Also makes the directory of the store.
private let hole: Wormhole = {
  do {
    return try Wormhole(group: AppGroup("group", in: directory.parent))
  } catch {
    fatalError("\(error)")
  }
}()

private func use(_ name: MessageName<some Codable & Sendable>) {
  _ = try? hole.blocking.message(name)
  _ = try? hole.blocking.history(name)
}

/// A passed message can be read, whatever was there before.
private func pass(_ value: Int, to name: MessageName<Int>) {
  do {
    try hole.blocking.pass(value, to: name)
  } catch WormholeError.notification {
    // Nobody is notified, since there is no bus.
  } catch {
    return
  }
  guard let found = try? hole.blocking.message(name), found == value else {
    fatalError("the stored value is not the passed one")
  }
}

/// Called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, let row = Row(UnsafeBufferPointer(start: start, count: count)) else { return 0 }
  do {
    try hole.store.write(within: nil) { (connection) throws(WormholeError) in
      try row.insert(connection)
    }
  } catch {
    fatalError("\(error)")
  }
  use(MessageName<Value>("name", codec: .json, type: "Value"))
  use(MessageName<Value>("name", codec: .propertyList, type: "Value"))
  use(MessageName<Data>("name", codec: .raw, type: "Value"))
  _ = try? hole.blocking.update(MessageName<Int>("name")) { $0 = ($0 ?? 0) &+ 1 }
  _ = try? hole.blocking.ping(MessageName<Int>("name"))
  pass(7, to: MessageName<Int>("name", keep: .last(10)))
  return 0
}
