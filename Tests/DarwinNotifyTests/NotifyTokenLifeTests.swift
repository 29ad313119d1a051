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
      #expect(!token.isValid)
      #expect(!token.check())
      #expect(token.state == 0)
      token.state = 5
      token.suspend()
      token.resume()
      #expect(throws: NotifyError.invalidToken) { try token.readState() }
      #expect(throws: NotifyError.invalidToken) { try token.setState(1) }
      #expect(throws: NotifyError.invalidToken) { try token.peek() }
      #expect(throws: NotifyError.invalidToken) { try token.monitorFile("/etc/passwd") }
      let next = try NotifyToken(name)
      #expect(next.rawValue > token.rawValue)
    }
  }

  @Test func mayBeCancelledByItsOwnHandler() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let queue = DispatchQueue(label: "com.example.queue")
      let (log, after) = (Log<Bool>(), Log<Bool>())
      let token = try NotifyToken(name, on: .queue(queue)) { token in
        token.cancel()
        log.append(token.isValid)
      }
      let last = try NotifyToken(name, on: .queue(queue)) { _ in after.append(true) }
      for count in 1...3 {
        try NotifyToken.post(name)
        await eventually { after.entries.count == count }
      }
      #expect(log.entries == [false])
      withExtendedLifetime((token, last)) {}
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
      let token = try NotifyToken(name)
      token.state = 5
      NotifyToken.setOptions(.disable)
      #expect(throws: NotifyError.disabled) { try NotifyToken.post(name) }
      #expect(throws: NotifyError.disabled) { try NotifyToken(name) }
      #expect(throws: NotifyError.disabled) { try token.setState(6) }
      #expect(throws: NotifyError.disabled) { try token.readState() }
      NotifyToken.setOptions([.enable, .dispatch, .regenerate])
      #expect(try token.readState() == 5)
      try NotifyToken.post(name)
    }
  }

  @Test(.enabled(if: getuid() != 0, "root may do everything"))
  func refusesNamesOfOtherUsers() async {
    await #expect(processExitsWith: .success) {
      let bus = try PrivateBus.forThisProcess()
      #expect(throws: NotifyError.notAuthorized) { try NotifyToken("user.uid.0.x") }
      #expect(throws: DarwinNotifyError.notAuthorized) {
        try bus.makeCenter().observe("user.uid.0.x", on: .thread) { _ in }
      }
      let ours = try NotifyToken(NotificationName("user.uid.\(getuid()).x"))
      #expect(ours.check())
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
      #expect(throws: NotifyError.invalidRequest) {
        try NotifyToken(name).monitorFile("relative")
      }
      close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
      await eventually { calls.entries.count == 1 }
      unlink(path)
      await eventually { calls.entries.count == 2 }
    }
  }
}
