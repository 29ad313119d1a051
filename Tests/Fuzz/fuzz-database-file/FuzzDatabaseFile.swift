// Opens, reads and writes the databases of a group whose file has arbitrary bytes.

internal import Foundation
internal import FuzzSupport
internal import Wormhole

private let directory = FuzzDirectory()
private let name = MessageName<Int>("name", keep: .last(3))
private let key = DefaultsKey("key", default: "")

private func useMessages(_ group: AppGroup) throws {
  let hole = try Wormhole(group: group)
  _ = try? hole.blocking.message(name)
  _ = try? hole.blocking.history(name)
  _ = try? hole.blocking.update(name) { $0 = ($0 ?? 0) &+ 1 }
  _ = try? hole.blocking.ping(name)
  _ = try? hole.blocking.pass(7, to: name)
  _ = try? hole.blocking.history(name)
  _ = try? hole.blocking.clear(name)
}

private func useDefaults(_ group: AppGroup) {
  let defaults = group.defaults
  _ = try? defaults.blocking[key]
  _ = try? defaults.blocking.set("text", for: key)
  _ = try? defaults.blocking.update(key) { $0 += "text" }
  _ = try? defaults.blocking.remove(key)
}

private func useDatabase(_ group: AppGroup) throws {
  let database = try group.database(
    "items",
    migrations: [
      SharedDatabase.Migration("items") {
        try $0.run("CREATE TABLE IF NOT EXISTS item(id INTEGER PRIMARY KEY, value)")
      }
    ])
  wait {
    // A view of the file may be endless.
    let limit = Duration.milliseconds(100)
    _ = try? await database.read(timeout: limit) { try $0.rows("SELECT * FROM item LIMIT 100") }
    let changes = try? database.changes(since: 0)
    let number = try? await database.write(timeout: limit) { connection in
      try connection.run("INSERT INTO item(value) VALUES(?)", "text")
      return try connection.lastCommit
    }
    guard let changes, number != nil else { return }
    _ = try? await changes.first { _ in true }
  }
}

/// Waits for work on other threads.
private func wait(for body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task {
    await body()
    done.signal()
  }
  done.wait()
}

/// Called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 0 else { return 0 }
  let bytes = UnsafeBufferPointer(start: start, count: count)
  let file = bytes.dropFirst()
  do {
    // A separate group each time: files are not replaced under an open database.
    let group = try AppGroup("group", in: directory.parent)
    directory.empty("group")
    directory.empty("group/wormhole")
    directory.empty("group/defaults")
    switch bytes[0] % 3 {
    case 0:
      directory.write(file, to: "group/wormhole/store.sqlite")
      try useMessages(group)
    case 1:
      directory.write(file, to: "group/defaults/store.sqlite")
      useDefaults(group)
    default:
      directory.write(file, to: "group/items")
      try useDatabase(group)
    }
  } catch {
    // An orderly refusal is fine.
  }
  return 0
}
