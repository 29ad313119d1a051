// Specifies the database of a single process.
import Foundation
import TestTools
import Testing
import Wormhole

@testable import notifyrelay

@Suite(.bounded)
struct StateDatabaseTests {
  private let group: TemporaryGroup
  private var path: String { "\(group.path)/state" }

  init() throws { group = try TemporaryGroup() }

  private func open(_ path: String, version: Int64 = 1) throws -> StateDatabase {
    try StateDatabase(path, version: version, schema: "CREATE TABLE item(value);")
  }

  @Test func whatIsCommittedIsThereAgain() throws {
    do {
      let database = try open(path)
      try database.change("INSERT INTO item VALUES(?), (?)", .integer(1), .text(""))
      #expect(database.isChanging)
      try database.commit()
      try database.commit()
      try database.change("DELETE FROM item")
    }
    let database = try open(path)
    #expect(try database.rows("SELECT value FROM item") == [[.integer(1)], [.text("")]])
    #expect(!database.isChanging)
  }

  @Test func oneOfAnotherVersionIsRefused() throws {
    _ = try open(path, version: 2)
    let error = expect(.unknownFormat) { try open(path) }
    #expect(error?.found == "2" && error?.path == path)
  }

  @Test func aPlaceWhereNoFileCanBeIsAnError() throws {
    let missing = expect(.system) { try open("\(path)/state") }
    #expect(missing?.number == ENOENT)
    try #require(symlink("\(group.path)/other", path) == 0)
    #expect(throws: WormholeError.foreign(path: path)) { try open(path) }
    try #require(mkdir("\(path).directory", 0o700) == 0)
    #expect(throws: WormholeError.database) { try open("\(path).directory") }
  }

  @Test func itTakesOneStatementAtATime() throws {
    let database = try open(path)
    let error = expect(.database) { try database.rows("SELECT 1; SELECT 2") }
    #expect(error?.reason == "not one statement: SELECT 1; SELECT 2")
    #expect(throws: WormholeError.database) { try database.rows("-- none") }
    #expect(throws: WormholeError.database) { try database.change("INSERT INTO none VALUES(1)") }
  }
}
