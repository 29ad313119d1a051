// Specifies where the handlers of messages run.
import Wormhole

@Suite(.bounded)
struct WormholeDeliveryTests {
  @Test func onAConcurrentQueueCallsDoNotOverlap() async throws {
    let site = try Site(.log, on: .usual)
    let (other, log) = (try site.makeOther(), Log<String>())
    let queue = DispatchQueue(label: "com.example.queue", attributes: .concurrent)
    let observation = try site.hole.listen(.number, starting: .new, on: .queue(queue)) { _ in
      log.append("begin")
      sched_yield()
      log.append("end")
    }
    for number in 1...200 { try await other.pass(number, to: .number) }
    await eventually { log.entries.count == 400 }
    #expect(log.entries == (1...200).flatMap { _ in ["begin", "end"] })
    withExtendedLifetime(observation) {}
  }

  @Test func aSlowHandlerDoesNotDelayOthers() async throws {
    let site = try Site(on: .usual)
    let (goOn, slow) = (DispatchSemaphore(value: 0), DispatchQueue(label: "slow"))
    let observation = try site.hole.listen(.number, starting: .new, on: .queue(slow)) { _ in
      goOn.wait()
    }
    let log = try site.hear(.number, on: .queue(DispatchQueue(label: "quick")))
    try await site.hole.pass(7, to: .number)
    await eventually { log.values == [7] }
    goOn.signal()
    withExtendedLifetime(observation) {}
  }

  @Test func aHandlerMayPassMessagesItself() async throws {
    for delivery in [Delivery.direct, .thread, .main] {
      let site = try Site(.log)
      let (log, hole) = (Log<Wormhole.Message<Int>>(), site.hole)
      let observation = try hole.listen(.number, starting: .new, on: delivery) {
        [weak hole] message in
        log.append(message)
        guard let value = message.value, value < 100 else { return }
        _ = try? hole?.blocking.pass(value + 1, to: .number)
      }
      try await hole.pass(1, to: .number)
      await eventually { log.values == Array(1...100) }
      withExtendedLifetime(observation) {}
    }
  }
}
