// Lists what keeps its values in a database file, for tests that are repeated for each.
import Wormhole

/// Something of a group that keeps numbers in a database file.
enum Keeper: CaseIterable, Sendable {
  case messages, defaults, database

  func path(in site: Site) -> String {
    switch self {
    case .messages: site.store.path
    case .defaults: "\(site.temporary.path)/defaults/store.sqlite"
    case .database: "\(site.temporary.path)/items"
    }
  }

  func write(_ number: Int, in site: Site) async throws {
    switch self {
    case .messages: try await site.hole.pass(number, to: .number)
    case .defaults: try await site.temporary.group.defaults.set(number, for: .number)
    case .database:
      try await database(in: site).write { try $0.run("INSERT INTO item VALUES(?)", number) }
    }
  }

  /// The last number that was written.
  func read(in site: Site) async throws -> Int? {
    switch self {
    case .messages: try await site.hole.message(.number)
    case .defaults: try await site.temporary.group.defaults[.number]
    case .database:
      try await database(in: site).read { try $0.rows("SELECT * FROM item", as: Int.self).last }
    }
  }

  private func database(in site: Site) throws -> SharedDatabase {
    try site.temporary.group.database("items", migrations: .steps(["CREATE TABLE item(value)"]))
  }
}
