// Specifies where the handlers of messages run.
import DarwinNotify
import Dispatch
import Foundation
import Testing
import Wormhole

@Suite(.timeLimit(.minutes(10)))
struct WormholeDeliveryTests {
  @Test(arguments: BusKind.installed)
  func onMainIsTheMainQueueAndTheMainActor(on bus: BusKind) async throws {
    let log = Log<Wormhole.Message<Int>>()
    try await check(on: bus, delivery: .main, log) { message in
      dispatchPrecondition(condition: .onQueue(.main))
      MainActor.assumeIsolated { log.append(message) }
    }
  }

  @Test(arguments: BusKind.installed)
  func onAQueueIsOnThatQueue(on bus: BusKind) async throws {
    let (log, queue) = (Log<Wormhole.Message<Int>>(), DispatchQueue(label: "com.example.queue"))
    try await check(on: bus, delivery: .queue(queue), log) { message in
      dispatchPrecondition(condition: .onQueue(queue))
      log.append(message)
    }
  }

  @Test(arguments: BusKind.installed)
  func onAnExecutorIsInTheIsolationOfItsActors(on bus: BusKind) async throws {
    let (log, executor) = (Log<Wormhole.Message<Int>>(), QueueExecutor())
    let resident = Resident(executor)
    try await check(on: bus, delivery: .executor(executor), log) { message in
      dispatchPrecondition(condition: .onQueue(executor.queue))
      resident.assumeIsolated { $0.visit() }
      log.append(message)
    }
    #expect(await resident.visits == log.entries.count)
  }

  @Test(arguments: BusKind.installed)
  func onTheThreadsOfTheLibraryItIsOffMain(on bus: BusKind) async throws {
    for (delivery, thread) in [(Delivery.thread, "dn-delivery"), (.direct, "dn-direct")] {
      let (log, threads) = (Log<Wormhole.Message<Int>>(), Log<String>())
      try await check(on: bus, delivery: delivery, log) { message in
        if !message.isInitial { threads.append(threadName()) }
        log.append(message)
      }
      #expect(Set(threads.entries) == [thread])
    }
  }

  @Test(arguments: BusKind.installed)
  func inALoopTheHostRunsTheWork(on bus: BusKind) async throws {
    let log = Log<Wormhole.Message<Int>>()
    let loop = DispatchQueue(label: "com.example.loop")
    let works = Log<Int>()
    let delivery = Delivery.loop { work in
      works.append(1)
      loop.async { work() }
    }
    try await check(on: bus, delivery: delivery, log) { message in
      dispatchPrecondition(condition: .onQueue(loop))
      log.append(message)
    }
    #expect(!works.entries.isEmpty)
  }

  /// A handler that checks where it runs hears what is stored, then everything passed, in order.
  private func check(
    on bus: BusKind, delivery: Delivery, _ log: Log<Wormhole.Message<Int>>,
    _ handler: @escaping @Sendable (Wormhole.Message<Int>) -> Void
  ) async throws {
    let site = try Site(.log, on: bus)
    let other = try site.makeOther()
    try await other.pass(1, to: .number)
    try site.hole.bind(
      Listener("label", on: delivery, handler), to: .number, starting: .lastOrAbsent)
    for number in 2...100 { try await other.pass(number, to: .number) }
    await eventually { log.values.count == 100 }
    #expect(log.values == Array(1...100))
    #expect(log.entries.map(\.isInitial) == [true] + repeatElement(false, count: 99))
  }

  @Test(arguments: BusKind.installed)
  func onAConcurrentQueueCallsDoNotOverlap(on bus: BusKind) async throws {
    let site = try Site(.log, on: bus)
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

  @Test(arguments: BusKind.installed)
  func aSlowHandlerDoesNotDelayOthers(on bus: BusKind) async throws {
    let site = try Site(on: bus)
    let (blocked, goOn, log) = (
      Log<Int>(), DispatchSemaphore(value: 0), Log<Wormhole.Message<Int>>()
    )
    let slow = try site.hole.listen(
      .number, starting: .new, on: .queue(DispatchQueue(label: "slow"))
    ) { _ in
      goOn.wait()
      blocked.append(1)
    }
    let quick = try site.hole.listen(
      .number, starting: .new, on: .queue(DispatchQueue(label: "quick"))
    ) {
      log.append($0)
    }
    try await site.hole.pass(7, to: .number)
    await eventually { log.values == [7] }
    #expect(blocked.entries.isEmpty)
    goOn.signal()
    await eventually { blocked.entries == [1] }
    withExtendedLifetime((slow, quick)) {}
  }

  @Test func aHandlerMayPassMessagesItself() async throws {
    for delivery in [Delivery.direct, .thread, .main] {
      let site = try Site(.log)
      let (log, hole) = (Log<Wormhole.Message<Int>>(), site.hole)
      let observation = try hole.listen(.number, starting: .new, on: delivery) {
        [weak hole] message in
        log.append(message)
        guard let value = message.value, value < 100 else { return }
        _ = try? hole?.pass(value + 1, to: .number)
      }
      try await hole.pass(1, to: .number)
      await eventually { log.values == Array(1...100) }
      withExtendedLifetime(observation) {}
    }
  }
}

private func threadName() -> String {
  let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
  return name?.trimmingCharacters(in: .newlines) ?? ""
}
