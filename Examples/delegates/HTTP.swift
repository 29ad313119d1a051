// A façade stands in front of the services for users and comments.
import Delegation

protocol UserService: Sendable {
  func user(id: Int) async throws -> String
}

protocol CommentService: Sendable {
  func comments(on day: String) async throws -> [String]
}

extension Facade: UserService {
  func user(id: Int) async throws -> String {
    try await self[(any UserService).self].user(id: id)
  }
}

extension Facade: CommentService {
  func comments(on day: String) async throws -> [String] {
    try await self[(any CommentService).self].comments(on: day)
  }
}

struct HTTPUsers: UserService {
  func user(id: Int) async throws -> String { "GET /users/\(id)" }
}

struct CachedUsers: UserService {
  func user(id: Int) async throws -> String { "user \(id), from the cache" }
}

struct HTTPComments: CommentService {
  func comments(on day: String) async throws -> [String] { ["GET /comments?day=\(day)"] }
}

func showHTTP() async throws {
  let http = Facade()
  try http.register((any UserService).self, HTTPUsers())
  print("façade: \(try await http.user(id: 100))")
  do {
    _ = try await http.comments(on: "2026-11-22")
  } catch DelegationError.unregistered {
    print("façade: no comments yet")
  }
  try http.register((any CommentService).self, HTTPComments())
  http.replace((any UserService).self, with: CachedUsers())
  print("façade: \(try await http.user(id: 100))")
  print("façade: \(try await http.comments(on: "2026-11-22").joined())")
}
