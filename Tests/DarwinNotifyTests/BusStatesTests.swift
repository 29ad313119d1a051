// Specifies what a center tells about its bus.
import DarwinNotify
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BusStatesTests {
  @Test(arguments: BusKind.installed)
  func beginsWithTheStateAndTellsEachChange(on kind: BusKind) async throws {
    let bus = try PrivateBus(kind)
    let center = try bus.makeCenter()
    await eventually("there is no bus") { center.isOnBus }
    let states = try center.busStates()
    var iterator = states.makeAsyncIterator()
    #expect(await iterator.next() == true)
    for _ in 1...2 {
      bus.kill()
      #expect(await iterator.next() == false)
      bus.startAgain()
      #expect(await iterator.next() == true)
    }
    var later = states.makeAsyncIterator()
    #expect(await later.next() == true)
  }

  @Test func saysThatThereIsNoBus() async throws {
    var iterator = try DarwinNotificationCenter(bus: .none).busStates().makeAsyncIterator()
    #expect(await iterator.next() == false)
  }

  @Test func endsWithItsTask() async throws {
    let states = try DarwinNotificationCenter(bus: .none).busStates()
    let task = Task {
      var all: [Bool] = []
      for await state in states {
        all.append(state)
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return all
    }
    #expect(await task.value == [false])
  }
}
