// Specifies tokens. Each test runs in its own process, since all tokens of a process share a bus.
import Synchronization

private let name: NotificationName = "com.example.changed"

@Suite(.bounded)
struct NotifyTokenTests {
  @Test(arguments: BusKind.grounds)
  func checksTrueOnceThenOnceForAnyNumberOfPosts(on kind: BusKind) async {
    await #expect(processExitsWith: .success) { [kind] in
      try PrivateBus.forThisProcess(kind)
      let (first, second) = (try NotifyToken(name), try NotifyToken(name))
      #expect(first.check())
      #expect(!first.check())
      for _ in 1...3 { try NotifyToken.post(name) }
      #expect(first.check())
      #expect(!first.check())
      #expect(second.check())
      #expect(!second.check())
    }
  }

  @Test func callsItsHandlerForEachPostOfAnotherProcess() async {
    await #expect(processExitsWith: .success) {
      let bus = try PrivateBus.forThisProcess()
      let (numbers, mainCalls, peer) = (Log<CInt>(), Log<Bool>(), try bus.makePeer())
      let main = try NotifyToken(name) { _ in
        dispatchPrecondition(condition: .onQueue(.main))
        mainCalls.append(true)
      }
      let token = try NotifyToken(name, on: .thread) { token in
        #expect(token.isValid && token.name == name)
        numbers.append(token.rawValue)
      }
      for count in 1...3 {
        peer.post(name)
        await eventually { numbers.entries.count == count && mainCalls.entries.count == count }
      }
      #expect(numbers.entries == Array(repeating: token.rawValue, count: 3) && main.isValid)
      #expect(token.check())
    }
  }

  @Test func sharesItsStateWithEveryTokenOfTheNameAndPeeks() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let token = try NotifyToken(name)
      let other = try NotifyToken(name, on: .thread) { _ in }
      #expect(token.state == 0)
      token.state = 0xDEAD_BEEF_0000_0001
      #expect(other.state == 0xDEAD_BEEF_0000_0001)
      try other.setState(.max)
      #expect(try token.readState() == .max)
      #expect(try NotifyToken("com.example.other").state == 0)
      let before = try token.peek()
      try NotifyToken.post(name)
      #expect(try token.peek() != before)
      #expect(token.check(), "a peek does not count")
      #expect(throws: NotifyError.invalidRequest) { try other.peek() }
    }
  }

  @Test func holdsDeliveriesBackUntilAsManyResumes() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let (held, free) = (Log<CInt>(), Log<CInt>())
      let token = try NotifyToken(name, on: .thread) { held.append($0.rawValue) }
      let other = try NotifyToken(name, on: .thread) { free.append($0.rawValue) }
      for _ in 1...2 { token.suspend() }
      token.resume()
      for _ in 1...3 { try NotifyToken.post(name) }
      await eventually { free.entries.count == 3 }
      #expect(held.entries.isEmpty)
      token.resume()
      await eventually { held.entries.count == 1 }
      withExtendedLifetime(other) {}
    }
  }

  @Test func writesItsNumberIntoADescriptor() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      let first = try NotifyToken(name, descriptor: .new)
      let second = try NotifyToken("com.example.other", descriptor: .shared(with: first))
      let descriptor = try #require(first.fileDescriptor)
      #expect(second.fileDescriptor == descriptor)
      for token in [first, second, first] {
        try NotifyToken.post(token.name)
        var number: Int32 = 0
        #expect(read(descriptor, &number, 4) == 4)
        #expect(Int32(bigEndian: number) == token.rawValue)
      }
      first.cancel()
      #expect(first.fileDescriptor == nil && second.fileDescriptor == descriptor)
      #expect(throws: NotifyError.invalidFile) {
        try NotifyToken(name, descriptor: .shared(with: first))
      }
      let plain = try NotifyToken(name)
      #expect(plain.fileDescriptor == nil)
      #expect(throws: NotifyError.invalidFile) {
        try NotifyToken(name, descriptor: .shared(with: plain))
      }
    }
  }

  @Test func sendsASignal() async {
    await #expect(processExitsWith: .success) {
      try PrivateBus.forThisProcess()
      CaughtSignals.install(for: SIGUSR1)
      let token = try NotifyToken(name, signal: SIGUSR1)
      _ = token.check()
      try NotifyToken.post(name)
      await eventually { CaughtSignals.count == 1 }
      #expect(token.check())
      #expect(throws: NotifyError.invalidSignal) { try NotifyToken(name, signal: 1000) }
    }
  }
}

/// Counts the signals of one number. A process can use it once.
private enum CaughtSignals {
  static var count: Int { seen.load(ordering: .acquiring) }

  /// Starts counting a signal.
  static func install(for number: CInt) {
    _ = count  // A handler could not initialize it.
    signal(number) { _ in seen.add(1, ordering: .acquiringAndReleasing) }
  }
}

private let seen = Atomic<Int>(0)
