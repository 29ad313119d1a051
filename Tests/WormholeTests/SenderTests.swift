// Specifies how the processes behind messages are distinguished.
import Wormhole

@Suite(.bounded)
struct SenderTests {
  private let queue = DispatchQueue(label: "com.example.queue")

  @Test(arguments: TransitKind.kinds)
  func aProcessOfAnotherNamespaceWithTheSamePidIsAnother(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let log = try site.hear(.number, from: .others, on: .queue(queue))
    // Stores what such a process would, where it would.
    let own = Wormhole.Sender.current
    let other = Wormhole.Sender(pid: own.pid, uid: own.uid, process: own.process ^ 1)
    let mailbox = try kind.transit.openMailbox(for: "org.example.number", in: site.hole.directory)
    _ = try mailbox.append(Wormhole.Record(.ping, sender: own))
    _ = try mailbox.append(Wormhole.Record(.ping, sender: other))
    try? site.hole.group.center.post("wormhole.org.example.group.wormhole.org.example.number")
    await eventually { log.entries.contains { $0.sender == other } }
    #expect(log.entries.map(\.sender) == [other])
  }
}
