// Uses a group from its own process: group-peer DIRECTORY GROUP COMMAND ARGUMENTS…
import DarwinNotify
import Foundation
import Wormhole

let arguments = Array(CommandLine.arguments.dropFirst())
let group = try AppGroup(arguments[1], in: URL(fileURLWithPath: arguments[0]))
let (command, rest) = (arguments[2], Array(arguments.dropFirst(3)))

/// Migrations that run statements, named after them.
func steps(_ statements: [String]) -> [SharedDatabase.Migration] {
  statements.map { sql in SharedDatabase.Migration(sql) { try $0.run(sql) } }
}

let table = "CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)"
let migrations = steps([table, "INSERT INTO item VALUES(1, 'one')"])

let namedMigrations =
  [SharedDatabase.Migration("items") { try $0.run(table) }]
func number(_ name: String) -> DefaultsKey<Int> { DefaultsKey(name, default: 0) }

/// It is never released: variables of the main file live as long as the process.
var kept: AppGroup?

switch command {
case "temporary":
  kept = try .temporary()
  try await kept?.defaults.set(1, for: number("a"))
  say(kept?.directory.path ?? "")
case "defaults-add":  // KEY COUNT: adds 1 to a key and to `sum`, that many times
  for _ in 0..<(Int(rest[1]) ?? 0) {
    try await group.defaults.transaction { values in
      for key in [number(rest[0]), number("sum")] { try values.set(values[key] + 1, for: key) }
    }
  }
case "defaults-set":  // KEY VALUE
  try await group.defaults.set(Int(rest[1]) ?? 0, for: number(rest[0]))
case "defaults-remove":  // KEY
  try await group.defaults.remove(number(rest[0]))
case "database-migrate":
  _ = try group.database("items", migrations: namedMigrations)
case "database-write":  // SQL
  try await group.database("items", migrations: migrations).write { try $0.run(rest[0]) }
case "database-fill":  // COUNT: that many transactions of two rows, then it waits
  let database = try group.database("items", migrations: migrations)
  say("ready")
  for _ in 0..<(Int(rest[0]) ?? 0) {
    try await database.write { connection in
      try connection.run("INSERT INTO item(name) VALUES('left')")
      try connection.run("INSERT INTO item(name) VALUES('right')")
    }
  }
  try await Task.sleep(for: .seconds(3600))
case "database-watch":
  let database = try group.database("items", migrations: migrations)
  let changes = try database.changes(in: ["item"])
  say("ready")
  for try await change in changes {
    let rows = (change.rowIDs["item"] ?? []).sorted()
    let found = try await database.read { connection in
      try rows.filter { try !connection.rows("SELECT 1 FROM item WHERE id = ?", $0).isEmpty }
    }
    say("\(rows) visible \(found) by \(change.sender.process ?? 0)")
  }
case "read-all":  // where nothing can be written
  try await readAll(of: group)
default:
  guard try runStoreCommand(command, rest, in: group) else {
    say("unknown command")
    exit(2)
  }
}
