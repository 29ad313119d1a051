// Specifies how the processes behind messages are distinguished.
import DarwinNotify
import Dispatch
import Testing
import Wormhole

@Suite(.timeLimit(.minutes(10)))
struct SenderTests {
  private let queue = DispatchQueue(label: "com.example.queue")

  @Test(arguments: TransitKind.kinds)
  func aProcessOfAnotherNamespaceWithTheSamePidIsAnother(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let log = Log<Wormhole.Message<Int>>()
    let observation = try site.hole.listen(
      .number, from: .others, starting: .new, on: .queue(queue)
    ) { log.append($0) }
    // Stores what such a process would, where it would.
    let own = Wormhole.Sender.current
    let other = Wormhole.Sender(pid: own.pid, uid: own.uid, process: own.process ^ 1)
    let mailbox = try kind.transit.openMailbox(for: "org.example.number", in: site.hole.directory)
    _ = try mailbox.append(Wormhole.Record(.ping, sender: own))
    _ = try mailbox.append(Wormhole.Record(.ping, sender: other))
    try? site.hole.group.center.post("wormhole.org.example.group.wormhole.org.example.number")
    await eventually { log.entries.contains { $0.sender == other } }
    #expect(log.entries.map(\.sender) == [other])
    withExtendedLifetime(observation) {}
  }

  @Test func aProcessKeepsItsNumber() {
    #expect(Wormhole.Sender.current == .current)
    #expect(Wormhole.Sender.current.process != 0)
  }
}
