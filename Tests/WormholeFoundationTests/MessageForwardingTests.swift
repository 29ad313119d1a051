// Specifies messages that are posted again inside the process.
import Wormhole
import WormholeFoundation

@Suite(.bounded)
struct MessageForwardingTests {
  private let numbers = MessageName<Int>("org.example.value")
  private let texts = MessageName<String>("org.example.value")

  /// Records the messages of a name as long as the center lives.
  private func observe<Value>(
    _ name: MessageName<Value>, in target: NotificationCenter
  ) -> Log<Wormhole.Message<Value>> {
    let log = Log<Wormhole.Message<Value>>()
    _ = target.addObserver(forName: Notification.Name(name.rawValue), object: nil, queue: nil) {
      if let message = $0.message(of: name) { log.append(message) }
    }
    return log
  }

  @Test(arguments: TransitKind.kinds)
  func readersOfOneTextAsTwoTypesBothGetTheirMessages(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let target = NotificationCenter()
    let (heardNumbers, heardTexts) = (observe(numbers, in: target), observe(texts, in: target))
    let first = try site.hole.forward(numbers, to: target, on: .thread)
    let second = try site.hole.forward(texts, to: target, on: .thread)

    try await site.hole.pass(7, to: numbers)
    await eventually { heardNumbers.entries.count == 1 && heardTexts.entries.count == 1 }
    #expect(heardNumbers.values == [7])
    #expect(
      heardTexts.entries[0].error.map { .typeMismatch ~= $0 && $0.name == texts.rawValue } == true)
    try await site.hole.pass("seven", to: texts)
    await eventually { heardNumbers.entries.count == 2 && heardTexts.entries.count == 2 }
    #expect(heardTexts.entries.compactMap(\.value) == ["seven"])
    #expect(heardNumbers.entries[1].error.map { .typeMismatch ~= $0 } == true)

    first.cancel()
    try await site.hole.pass("eight", to: texts)
    await eventually { heardTexts.entries.count == 3 }
    #expect(heardNumbers.entries.count == 2)
    withExtendedLifetime(second) {}
  }

  @Test(arguments: TransitKind.kinds)
  func aMessageIsPostedOnceHoweverManyWormholesForwardIt(_ kind: TransitKind) async throws {
    let site = try Site(kind)
    let target = NotificationCenter()
    let log = observe(numbers, in: target)
    let other = try Wormhole(group: site.temporary.group, transit: kind.transit)
    let queue = DispatchQueue(label: "com.example.queue")
    let forwardings = try [site.hole, site.hole, other].map {
      try $0.forward(numbers, to: target, on: .queue(queue))
    }
    for number in 1...3 {
      try await site.hole.pass(number, to: numbers)
      await eventually { log.values.last == number }
      forwardings[number - 1].cancel()
    }
    try await site.hole.pass(4, to: numbers)
    try await site.settle(queue)
    #expect(log.values == [1, 2, 3])
  }

  /// The main queue under the names that it has.
  private static let mains: [Delivery] = [.main, .queue(.main), .actor(MainActor.shared)]

  // The main function of this program is asynchronous, as Foundation's main queue does not expect.
  @Test(arguments: [nil, OperationQueue.main], mains.indices)
  func observersOnTheMainQueueAreCalled(of queue: OperationQueue?, _ main: Int) async throws {
    let (site, target, heard) = (try Site(), NotificationCenter(), Log<String>())
    for name in ["posted", numbers.rawValue] {
      _ = target.addObserver(forName: Notification.Name(name), object: nil, queue: queue) { _ in
        MainActor.assumeIsolated { heard.append(name) }
      }
    }
    let center = site.hole.group.center
    let posts = try center.forward("posted", to: target, on: Self.mains[main])
    let messages = try site.hole.forward(numbers, to: target, on: Self.mains[main])
    try await site.hole.pass(1, to: numbers)
    await eventually { heard.entries == [numbers.rawValue] }
    try? center.post("posted")
    await eventually { heard.entries == [numbers.rawValue, "posted"] }
    withExtendedLifetime((posts, messages)) {}
  }
}
