// Specifies who learns that messages cannot be read, and how often.
import CLinux

@testable import Wormhole

@Suite(.bounded)
struct UnreadableMessagesTests {
  // MARK: - Temporary errors

  @Test(arguments: Kept.allCases, [Wormhole.Senders.all, .others])
  func aHandlerLearnsOfAReadErrorOnceAndTheMessageThenComesByItself(
    _ kind: Kept, _ senders: Wormhole.Senders
  ) async throws {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    let log = try site.hear(.number, from: senders)
    try await site.settle()
    try await store(42, for: senders, in: site)
    let obstacle = try Obstacle(site.path)
    for _ in 1...5 {
      notify(site)
      try await site.settle()
    }
    await eventually { log.entries.map(\.error?.number) == [ELOOP] }
    try obstacle.remove()
    await eventually("\(log.texts)") { log.values == [42] }
    #expect(log.entries.last?.missed == 0)
    #expect(log.entries.count == 2)

    // The same error at another time is reported again.
    let another = try Obstacle(site.path)
    notify(site)
    await eventually { log.entries.count == 3 }
    try another.remove()
    try await store(43, for: senders, in: site)
    notify(site)
    await eventually("\(log.texts)") { log.values == [42, 43] }
  }

  @Test func aReadErrorEndsASequenceAndAnotherOneGoesOn() async throws {
    let site = try Site(.history)
    try await site.hole.pass(1, to: .number)
    let sequence = try site.hole.messages(.number, starting: .new)
    var messages = sequence.makeAsyncIterator()
    let obstacle = try Obstacle(site.path)
    await #expect(throws: WormholeError.system) { try await messages.next() }
    #expect(try await messages.next() == nil)
    try obstacle.remove()
    try await site.hole.pass(2, to: .number)
    var others = try site.hole.messages(.number, starting: .since(1)).makeAsyncIterator()
    #expect(try await others.next()?.value == 2)
  }

  @Test func aListenerOfAStoreLearnsOfAReadErrorOnce() async throws {
    let site = try Site(.history)
    try await site.hole.pass(1, to: .number)
    let log = Log<Result<StoredRecord, WormholeError>>()
    let observation = try site.store.listen(to: "org.example.number", on: .queue(site.queue)) {
      log.append($0)
    }
    let obstacle = try Obstacle(site.path)
    for _ in 1...3 { notify(site) }
    await eventually { log.entries.count == 1 }
    #expect(expect(.system) { try log.entries[0].get() }?.number == ELOOP)
    try obstacle.remove()
    try await site.hole.pass(2, to: .number)
    await eventually { log.entries.count == 2 }
    #expect(try log.entries[1].get().number == 2)
    await observation.end()
  }

  @Test @MainActor func anObservedMessageShowsNoErrorThatMayPass() async throws {
    let site = try Site()
    try await site.hole.pass(1, to: .number)
    let number = try ObservedMessage(.number, in: site.hole)
    let log = try site.hear(.number)
    let obstacle = try Obstacle(site.path)
    notify(site)
    await eventually { log.entries.last?.error == .system }
    try await site.settle(.main)
    #expect(number.value == 1 && number.error == nil)
    try obstacle.remove()
    try await site.hole.pass(2, to: .number)
    await eventually { await number.value == 2 }
    #expect(number.error == nil)
  }

  /// Stores a message without a change notification that is heard here.
  private func store(_ number: Int, for senders: Wormhole.Senders, in site: Site) async throws {
    if senders == .others {
      _ = try await site.run("pass", MessageName.number.rawValue, [number, 1])
    } else {
      try await site.makeOther().pass(number, to: .number)
    }
  }

  // MARK: - Property lists

  static let foreignLists: [String] = [
    "", "bplist0", "(1, 2)", "{ a = 1; }",
    "<?xml version=\"1.0\"?><plist version=\"1.0\"><array><array/></array></plist>",
    "<plist version=\"1.0\"><array><array><integer>1</integer></array></array></plist>",
    "<?xml version=\"1.0\"?><plist version=\"1.0\">"
      + String(repeating: "<array>", count: 50_000)
      + String(repeating: "</array>", count: 50_000) + "</plist>",
    String(repeating: "(", count: 100_000) + String(repeating: ")", count: 100_000),
  ]

  @Test(arguments: foreignLists.indices)
  func propertyListsThatAreNotBinaryAreRefused(_ index: Int) async throws {
    let site = try Site()
    let name = MessageName<[Int]>("org.example.list", codec: .propertyList)
    let value = StoredValue(codec: "plist", data: Data(Self.foreignLists[index].utf8))
    try site.store.pass(RecordDraft(.value(value)), to: name.rawValue)
    let error = WormholeError.decoding("org.example.list: not a binary property list")
    await #expect(throws: error) { try await site.hole.message(name) }
    let log = try site.hear(name, starting: .last)
    await eventually { log.entries.map(\.error) == [error] }
    try await site.hole.pass([1, 2], to: name)
    #expect(try await site.hole.message(name) == [1, 2])
  }
}

/// Makes listeners look, although nothing was passed.
private func notify(_ site: Site) {
  // Without a bus this process hears it, and the call reports that.
  try? site.hole.group.center.post(
    "wormhole.org.example.group.wormhole.org.example.number")
}

/// A link to itself in the place of a directory, so that nothing in it can be opened.
private struct Obstacle: Sendable {
  private let directory: String
  private var aside: String { "\(directory).aside" }

  /// Swaps the two atomically: at no time is there nothing.
  init(_ directory: String) throws {
    self.directory = directory
    try #require(symlink(directory, aside) == 0)
    try exchange()
  }

  func remove() throws {
    try exchange()
    try #require(unlink(aside) == 0)
  }

  private func exchange() throws {
    let flags = UInt32(LINUX_RENAME_EXCHANGE)
    try #require(renameat2(AT_FDCWD, aside, AT_FDCWD, directory, flags) == 0)
  }
}
