// Specifies the sequences of whether a service is there and whether it has its name.
import DarwinNotify
import Foundation
import Glibc
import TestTools
import Testing

@testable import RemoteHandlers

/// Follows a sequence in a task of its own.
private struct Following<State: Sendable & Equatable>: Sendable {
  let seen = Log<State>()
  let task: Task<Void, Never>

  init(_ states: RemoteStates<State>) {
    task = Task { [seen] in
      for await state in states { seen.append(state) }
    }
  }

  /// Waits until the last states are these.
  func expect(
    _ states: State..., sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await eventually("\(states) was not seen", sourceLocation: sourceLocation) {
      seen.entries.suffix(states.count) == states[...]
    }
  }

  func end() async {
    task.cancel()
    await task.value
  }
}

@Suite(.bounded)
struct AvailabilityTests {
  @Test(arguments: BusKind.both)
  func everyStartAndEndOfAServiceIsSeen(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let following = Following(try stage.player.availability())
    await following.expect(.absent)
    for _ in 1...3 {
      var player: Program? = try Program("remote-player", [], on: stage.bus)
      await following.expect(.absent, .available)
      player?.send(SIGKILL)
      player = nil
      await following.expect(.available, .absent)
    }
    #expect(following.seen.entries.count == 7)
    await following.end()
    await eventually { (try? stage.calling.statistics().observers) == 0 }
  }

  @Test(arguments: BusKind.both)
  func lossOfTheBusIsSeen(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let service = try await stage.serve()
    let following = Following(try stage.player.availability())
    let names = Following(service.nameStates())
    await following.expect(.available)
    await names.expect(true)
    stage.bus.kill()
    await following.expect(.available, .notConnected)
    await names.expect(true, false)
    stage.bus.startAgain()
    await following.expect(.available)
    await names.expect(false, true)
    // Perhaps the caller found the bus before the service did.
    let seen = following.seen.entries.filter { $0 != .absent }
    #expect(seen == [.available, .notConnected, .available])
    await service.close()
    await following.expect(.available, .absent)
    await names.task.value
    #expect(names.seen.entries == [true, false, true, false])
    await following.end()
  }

  @Test(arguments: BusKind.both)
  func aServiceThatTakesTheNameOverIsSeen(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    let first = try await RemoteService(
      name: RemoteStage.name, exporting: HandlerBus(), [], on: stage.calling)
    let second = try await stage.serve(queueing: true)
    let following = Following(try stage.player.availability())
    let (firstNames, secondNames) = (Following(first.nameStates()), Following(second.nameStates()))
    await following.expect(.available)
    await firstNames.expect(true)
    await secondNames.expect(false)
    await first.close()
    await following.expect(.available, .available)
    await secondNames.expect(false, true)
    await firstNames.task.value
    #expect(firstNames.seen.entries == [true, false])
    let running = Task { await second.run() }
    running.cancel()
    await running.value
    await secondNames.task.value
    #expect(secondNames.seen.entries == [false, true, false])
    await following.expect(.available, .available, .absent)
    await following.end()
  }

  @Test(arguments: [true, false])
  func servicesOfThisProcessAreSeenWithoutABus(_ isIsolated: Bool) async throws {
    let center = try isIsolated ? .isolated() : DarwinNotificationCenter(bus: .noBus)
    let stage = RemoteStage(isolated: center, beside: try PrivateBus(.usual))
    let following = Following(try stage.player.availability())
    await following.expect(.notConnected)
    var first: RemoteService? = try await stage.serve()
    await following.expect(.notConnected, .available)
    let second = try await stage.serve(queueing: true)
    let late = Following(try stage.player.availability())
    await late.expect(.available)
    let firstNames = Following(try #require(first).nameStates())
    let secondNames = Following(second.nameStates())
    await firstNames.expect(true)
    await secondNames.expect(false)
    first = nil
    await firstNames.task.value
    #expect(firstNames.seen.entries == [true, false])
    await secondNames.expect(false, true)
    await second.close()
    await following.expect(.available, .notConnected)
    await late.expect(.available, .notConnected)
    await secondNames.task.value
    #expect(secondNames.seen.entries == [false, true, false])
    await following.end()
    await late.end()
  }

  @Test(arguments: BusKind.both)
  func aBusThatComesLaterIsSeen(_ kind: BusKind) async throws {
    let stage = try RemoteStage(kind)
    stage.bus.kill()
    let following = Following(try stage.player.availability())
    await following.expect(.notConnected)
    stage.bus.startAgain()
    await following.expect(.notConnected, .absent)
    await following.end()
  }

  @Test func everyIterationBeginsWithThePresentState() async throws {
    let stage = try RemoteStage(.usual)
    let states = try stage.player.availability()
    let first = Following(states)
    await first.expect(.absent)
    let service = try await stage.serve()
    await first.expect(.absent, .available)
    let second = Following(states)
    await second.expect(.available)
    #expect(second.seen.entries == [.available])
    await service.close()
    await first.expect(.available, .absent)
    await second.expect(.available, .absent)
    var over = service.nameStates().makeAsyncIterator()
    #expect(await over.next() == false)
    #expect(await over.next() == nil)
    await first.end()
    await second.end()
  }

  @Test func aSequenceThatIsDroppedObservesNoLonger() async throws {
    let stage = try RemoteStage(.usual)
    do {
      let states = try stage.player.availability()
      #expect(try stage.calling.statistics().observers == 1)
      withExtendedLifetime(states) {}
    }
    await eventually { (try? stage.calling.statistics().observers) == 0 }
  }

  @Test func aNameThatCannotBeOneIsRefused() throws {
    let center = try DarwinNotificationCenter.isolated()
    let stage = try RemoteStage(.usual)
    for name in ["no dots", "org.example\0x", ":1.2", ""] {
      #expect(throws: RemoteError.invalid) {
        _ = try RemoteDestination(name, on: stage.calling).availability()
      }
    }
    _ = try RemoteDestination("org.example.Player", on: center).availability()
  }

  @Test func statesThatNobodyTakesAreMergedIntoTheLast() async {
    let feed = StateFeed(0)
    let registration = feed.follow()
    for state in 1...100 { feed.set(state) }
    feed.finish(with: -1)
    var taken: [Int] = []
    while let state = await registration.next(isolation: nil) { taken.append(state) }
    #expect(taken == Array(0...14) + [-1])
  }
}
