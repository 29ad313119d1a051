// Specifies what the relay reads from a state file that it has not written.
import Foundation
import TestSupport
import Testing
import Wormhole

@testable import notifyrelay

@Suite(.bounded)
struct RelayStateTests {
  @Test func rowsOfAnotherFormAreReadWithoutHarm() throws {
    let directory = String(cString: try #require(test_directory())) + "/\(UUID())"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try write(
      """
      CREATE TABLE names(name); INSERT INTO names VALUES('a');
      CREATE TABLE taken(name); INSERT INTO taken VALUES('a');
      CREATE TABLE origins(realm, origin, is_known);
      INSERT INTO origins VALUES('home', 'a', 1), ('home', 'b', 0);
      """, to: "\(directory)/state.sqlite")
    let store = try notifyrelay.Store(in: directory)
    let names = try store.names()
    #expect(names.map { $0.name } == ["a"] && names.first?.row.count == 0)
    #expect(try store.takenStates()["a"]?.state == 0)
    #expect(try store.origins(in: "home").count == 1)
    #expect(throws: WormholeError.self) { try store.table }
  }

  private func write(_ tables: String, to path: String) throws {
    _ = try StateDatabase(path, version: 4, schema: tables)
  }
}
