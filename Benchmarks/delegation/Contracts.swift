// Times a call of a contract's implementation.
import Delegation

private protocol UserHandler: Sendable {
  func user(id: Int) async throws -> String
}

private struct Users: UserHandler {
  var prefix: String

  func user(id: Int) async throws -> String { prefix + String(id) }
}

/// A second implementation, so that the compiler does not know which one is called.
private struct NoUsers: UserHandler {
  func user(id: Int) async throws -> String { throw CancellationError() }
}

private struct Other<Kind>: Sendable {}

/// Registers something for each kind.
private struct Registration: KindVisitor {
  let facade: Facade

  mutating func visit<Kind>(_ kind: Kind.Type) {
    facade.replace(Other<Kind>.self, with: Other<Kind>())
  }
}

/// Makes an implementation that the compiler does not know, as in a façade.
@inline(never) private func makeUsers() -> any UserHandler {
  CommandLine.arguments.isEmpty ? NoUsers() : Users(prefix: "the user number ")
}

func measureContracts(calls: Int) async {
  let users = makeUsers()
  let (facade, crowded) = (Facade(), Facade())
  for facade in [facade, crowded] { facade.replace((any UserHandler).self, with: users) }
  var registration = Registration(facade: crowded)
  visitKinds(manyKinds, &registration)

  func call(_ id: Int, _ facade: Facade) async {
    use(try? await facade[(any UserHandler).self].user(id: id))
  }
  _ = await compare(
    "contracts", calls: calls,
    [
      ("a call through an existential", { await time($0) { use(try? await users.user(id: $0)) } }),
      ("Facade", { await time($0) { await call($0, facade) } }),
      ("Facade, one of 10,000", { await time($0) { await call($0, crowded) } }),
    ])
}
