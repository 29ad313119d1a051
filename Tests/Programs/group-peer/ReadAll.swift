// Reads what a group keeps, and tries to write.
import Foundation
import Wormhole

/// Prints all that a test has put into a group.
func readAll(of group: AppGroup) async throws {
  let hole = try Wormhole(group: group)
  let name: MessageName<Int> = "number"
  var values: [Int] = []
  let last = try await hole.message(name) ?? 0
  for try await message in try hole.messages(name, starting: .all) {
    message.value.map { values.append($0) }
    if message.value == last { break }
  }
  say("messages \(last) \(values)")
  say("defaults \(try await group.defaults[number("number")])")
  let database = try group.database(
    "items", migrations: steps(["CREATE TABLE item(id INTEGER PRIMARY KEY)"]))
  say("items \(try await database.read { try $0.rows("SELECT * FROM item").count })")
  let commits = try await database.read { try $0.lastCommit }
  let changes = try database.changes(since: commits - 1)
  for try await change in changes {
    say("changes \(change.rowIDs["item"]?.count ?? 0)")
    break
  }
  do {
    try await database.write { try $0.run("DELETE FROM item") }
  } catch let error as WormholeError where error.number == EROFS {
    say("read-only")
  }
  do {
    _ = try group.database("others")
  } catch let error as WormholeError where error.number == EROFS {
    say("nothing new")
  }
}
