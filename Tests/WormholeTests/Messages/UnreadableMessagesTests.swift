// Specifies who learns that messages cannot be read, and how often.
import CLinux

@testable import Wormhole

@Suite(.bounded)
struct UnreadableMessagesTests {
  // MARK: - Temporary errors

  @Test(arguments: [TransitKind.file, .coordinatedFile], [Wormhole.Senders.all, .others])
  func aReadErrorIsReportedOnceAndTheMessageThenComesByItself(
    _ kind: TransitKind, _ senders: Wormhole.Senders
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
    let path = "\(site.path)/org.example.number.mailbox"
    #expect(log.entries.map(\.error) == [.system(code: ENOTDIR, path: path)])
    #expect(log.entries.first?.sender == Wormhole.Sender(pid: 0, uid: 0))
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

  @Test(arguments: [TransitKind.file, .coordinatedFile], [Wormhole.Senders.all, .others])
  func aSequenceReportsAReadErrorOnceAndContinuesByItself(
    _ kind: TransitKind, _ senders: Wormhole.Senders
  ) async throws {
    let site = try Site(kind)
    try await site.hole.pass(1, to: .number)
    var messages = try site.hole.messages(.number, from: senders, starting: .new)
      .makeAsyncIterator()
    try await store(42, for: senders, in: site)
    let obstacle = try Obstacle(site.path)
    notify(site)
    let path = "\(site.path)/org.example.number.mailbox"
    #expect(await messages.next()?.error == .system(code: ENOTDIR, path: path))
    let removal = Task { try obstacle.remove() }
    #expect(await messages.next()?.value == 42)
    try await removal.value
    try await store(43, for: senders, in: site)
    notify(site)
    #expect(await messages.next()?.value == 43)
  }

  /// Stores a message without a change notification that is heard here.
  private func store(_ number: Int, for senders: Wormhole.Senders, in site: Site) async throws {
    if senders == .others {
      _ = try await site.run("pass", MessageName.number.rawValue, [number, 1])
    } else {
      try await site.makeOther().pass(number, to: .number)
    }
  }

  // MARK: - Permanent errors

  @Test func clearingReportsWhatItCouldNotClear() throws {
    let site = try Site(.file)
    let names = (1...5).map { MessageName<Int>("org.example.\($0)") }
    for name in names { try site.hole.blocking.pass(1, to: name) }
    var failures: [String: WormholeError] = [:]
    for name in names.dropLast().map(\.rawValue) {
      let mailbox = "\(site.path)/\(name).mailbox"
      try #require(rename(mailbox, "\(mailbox).aside") == 0 && mkdir(mailbox, 0o700) == 0)
      failures[name] = .system(code: EISDIR, path: mailbox)
    }
    let error = #expect(throws: WormholeError.self) { try site.hole.blocking.clearAll() }
    #expect(error == .notCleared(failures))
    for mailbox in failures.values.compactMap(\.path) {
      try #require(rmdir(mailbox) == 0 && rename("\(mailbox).aside", mailbox) == 0)
    }
    #expect(try names.map { try site.hole.blocking.message($0) } == [1, 1, 1, 1, nil])
    try site.hole.blocking.clearAll()
    #expect(try names.allSatisfy { try site.hole.blocking.message($0) == nil })
  }

  // MARK: - Property lists

  static let foreignLists: [String] = [
    "", "bplist0", "(1, 2)", "{ a = 1; }",
    "<?xml version=\"1.0\"?><plist version=\"1.0\"><array><array/></array></plist>",
    "<plist version=\"1.0\"><array><array><integer>1</integer></array></array></plist>",
    "<?xml version=\"1.0\"?><plist version=\"1.0\">"
      + String(repeating: "<array>", count: 100_000)
      + String(repeating: "</array>", count: 100_000) + "</plist>",
    String(repeating: "(", count: 100_000) + String(repeating: ")", count: 100_000),
  ]

  @Test(arguments: foreignLists.indices)
  func propertyListsThatAreNotBinaryAreRefused(_ index: Int) async throws {
    let site = try Site()
    let name = MessageName<[Int]>("org.example.list", codec: .propertyList)
    let mailbox = try FileTransit().openMailbox(for: name.rawValue, in: site.hole.directory)
    let payload = Wormhole.Payload(
      codec: "plist", type: "Array<Int>", version: 1, data: Data(Self.foreignLists[index].utf8))
    #expect(try mailbox.append(Wormhole.Record(.value(payload))) == 1)
    let error = WormholeError.decoding("org.example.list: not a binary property list")
    #expect(throws: error) { try site.hole.blocking.message(name) }
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

/// A file in place of a directory, so that nothing in the directory can be opened.
private struct Obstacle: Sendable {
  private let directory: String
  private var aside: String { "\(directory).aside" }

  /// Swaps the two atomically: at no time is there nothing.
  init(_ directory: String) throws {
    self.directory = directory
    try Data().write(to: URL(fileURLWithPath: aside))
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
