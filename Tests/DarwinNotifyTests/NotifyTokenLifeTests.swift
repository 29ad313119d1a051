// Specifies how tokens end, and how they fail.
import TestSupport

private let name: NotificationName = "com.example.changed"

@Suite(.bounded)
struct NotifyTokenLifeTests {
  @Test func endsWithItsValue() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let census = Census()
      func register() throws -> CInt {
        let canary = census.makeCanary()
        let token = try NotifyToken(name, on: .thread) { _ in canary.sing() }
        #expect(census.deaths == 0)
        return token.rawValue
      }
      let number = try register()
      await eventually("the handler was not released") { census.deaths == 1 }
      #expect(number > 0)
      let names = try DarwinNotificationCenter.names()
      #expect(!names.contains { $0.name == name })
    }
  }

  @Test func isOverOnceCancelled() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let token = try NotifyToken(name)
      #expect(token.isValid)
      token.state = 5
      token.cancel()
      token.cancel()
      #expect(!token.isValid && !token.check())
      token.state = 6
      #expect(token.state == 0)
      #expect(throws: NotifyError.invalidToken) { try token.readState() }
      #expect(throws: NotifyError.invalidToken) { try token.setState(1) }
      #expect(throws: NotifyError.invalidToken) { try token.peek() }
      let next = try NotifyToken(name)
      #expect(next.rawValue > token.rawValue)
    }
  }

  @Test func survivesHandlersThatRunWhileItsLastReferenceGoes() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let census = Census()
      let cycles = 500 / slowness
      for _ in 1...cycles {
        let canary = census.makeCanary()
        let token = try NotifyToken(name, on: .queue(.global())) { token in
          #expect(token.rawValue > 0)
          canary.sing()
        }
        try NotifyToken.post(name)
        #expect(token.isValid)
      }
      await eventually("handlers were not released") { census.deaths == cycles }
    }
  }

  @Test(arguments: ["", "com.example\0.changed", String(repeating: "n", count: 512)])
  func refusesInvalidNames(text: String) {
    let name = NotificationName(text)
    let census = Census()
    let canary = census.makeCanary()
    #expect(throws: NotifyError.invalidName) { try NotifyToken.post(name) }
    #expect(throws: NotifyError.invalidName) { try NotifyToken(name) }
    #expect(throws: NotifyError.invalidName) { try NotifyToken(name, signal: SIGUSR1) }
    #expect(throws: NotifyError.invalidName) { try NotifyToken(name, descriptor: .new) }
    #expect(throws: NotifyError.invalidName) {
      try NotifyToken(name, on: .thread) { _ in canary.sing() }
    }
    #expect(census.deaths == 0)
  }

  @Test func mayBeDisabledWithTheLibrary() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      NotifyToken.setOptions(.disable)
      #expect(throws: NotifyError.disabled) { try NotifyToken.post(name) }
      #expect(throws: NotifyError.disabled) { try NotifyToken(name) }
      NotifyToken.setOptions([.enable, .dispatch, .regenerate])
      try NotifyToken.post(name)
    }
  }

  @Test func deliversWhenAFileChanges() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let calls = Log<CInt>()
      let token = try NotifyToken(name, on: .thread) { calls.append($0.rawValue) }
      let directory = try #require(getenv("XDG_RUNTIME_DIR").map { String(cString: $0) })
      let path = directory + "/watched"
      try token.monitorFile(path, for: [.create, .delete])
      #expect(throws: NotifyError.invalidRequest) { try token.monitorFile(path) }
      close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
      await eventually { calls.entries.count == 1 }
      unlink(path)
      await eventually { calls.entries.count == 2 }
    }
  }
}
