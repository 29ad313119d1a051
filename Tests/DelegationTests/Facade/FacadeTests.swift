// Specifies how a facade chooses, replaces and calls its implementation.
import Synchronization

protocol UserHandler: Sendable {
  func user(id: Int) async throws -> String
}

protocol CommentHandler: Sendable {
  func comment(id: Int) -> String
}

private struct Users: UserHandler {
  var prefix = "user"
  func user(id: Int) async throws -> String { "\(prefix) \(id)" }
}

private struct Comments: CommentHandler {
  func comment(id: Int) -> String { "comment \(id)" }
}

private final class Service: UserHandler {
  private let canary: Canary?

  init(_ canary: Canary? = nil) { self.canary = canary }

  func user(id: Int) async throws -> String { "service \(id)" }
}

/// The original shape of a call.
extension Facade: UserHandler {
  func user(id: Int) async throws -> String {
    try await self[(any UserHandler).self].user(id: id)
  }
}

@Suite struct FacadeTests {
  let facade = Facade()

  @Test func aCallReachesWhatIsRegisteredForTheContract() async throws {
    try facade.register((any UserHandler).self, Users())
    try facade.register((any CommentHandler).self, Comments())
    #expect(try await facade[(any UserHandler).self].user(id: 100) == "user 100")
    #expect(try facade[(any CommentHandler).self].comment(id: 7) == "comment 7")
    #expect(try await facade.user(id: 100) == "user 100")
  }

  @Test func anUnregisteredContractIsAnErrorThatNamesIt() async throws {
    let name = "DelegationTests.UserHandler"
    let error = await #expect(throws: DelegationError.self) { try await facade.user(id: 1) }
    #expect(error == .unregistered)
    #expect(error?.description == "nothing is registered for \(name)")
    #expect((try? facade[(any UserHandler).self]) == nil)
  }

  @Test func replacingAnImplementationMustBeExplicit() async throws {
    #expect(facade.replace((any UserHandler).self, with: Users()) == nil)
    #expect(throws: DelegationError.alreadyRegistered) {
      try facade.register((any UserHandler).self, Users(prefix: "other"))
    }
    #expect(try await facade.user(id: 1) == "user 1")
    let old = facade.replace((any UserHandler).self, with: Users(prefix: "other"))
    #expect(try await old?.user(id: 1) == "user 1")
    #expect(try await facade.user(id: 1) == "other 1")
  }

  @Test func anUnregisteredImplementationIsGone() async throws {
    try facade.register((any UserHandler).self, Users())
    #expect(facade.unregister((any UserHandler).self) != nil)
    #expect(facade.unregister((any UserHandler).self) == nil)
    await #expect(throws: DelegationError.self) { try await facade.user(id: 1) }
    try facade.register((any UserHandler).self, Users())
  }

  @Test func aVanishedWeakImplementationIsADistinctError() async throws {
    var service: Service? = Service()
    try facade.register((any UserHandler).self, weak: try #require(service))
    #expect(try await facade.user(id: 1) == "service 1")
    #expect((try? facade[(any UserHandler).self]) != nil)
    service = nil
    let error = await #expect(throws: DelegationError.self) { try await facade.user(id: 1) }
    #expect(error == .vanished)
    #expect((try? facade[(any UserHandler).self]) == nil)
    try facade.register((any UserHandler).self, Users())
    #expect(try await facade.user(id: 1) == "user 1")
  }

  @Test func aValueCannotBeHeldWeakly() throws {
    let error = DelegationError.notAnObject
    #expect(throws: error) { try facade.register((any UserHandler).self, weak: Users()) }
    let service = Service()
    try facade.register((any UserHandler).self, weak: service)
    #expect((try? facade[(any UserHandler).self]) != nil)
  }

  @Test func eightThreadsReplaceWhileCallsRun() async throws {
    let census = Census()
    try facade.register((any UserHandler).self, Service(census.makeCanary()))
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask { [facade] in
          for id in 0..<1000 {
            if worker % 2 == 0 {
              facade.replace((any UserHandler).self, with: Service(census.makeCanary()))
            } else if (try? await facade.user(id: id)) != "service \(id)" {
              Issue.record("a call went astray")
            }
          }
        }
      }
    }
    #expect(census.deaths == 4000, "only the last one lives")
    facade.unregister((any UserHandler).self)
    #expect(census.deaths == 4001)
  }

  @Test func oneOfTwoThreadsRegisters() {
    for _ in 0..<(5_000 / slowness) {
      let facade = Facade()
      let count = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        guard (try? facade.register((any CommentHandler).self, Comments())) != nil else { return }
        count.add(1, ordering: .relaxed)
      }
      guard count.load(ordering: .relaxed) == 1 else {
        Issue.record("\(count.load(ordering: .relaxed)) threads have registered")
        return
      }
    }
  }

  @Test func theEndOfAnImplementationMayUseTheFacade() throws {
    final class Leaving: UserHandler {
      let facade: Facade
      init(_ facade: Facade) { self.facade = facade }
      deinit { facade.replace((any CommentHandler).self, with: Comments()) }
      func user(id: Int) async throws -> String { "" }
    }
    try facade.register((any UserHandler).self, Leaving(facade))
    facade.replace((any UserHandler).self, with: Users())
    #expect((try? facade[(any CommentHandler).self]) != nil)
  }
}
