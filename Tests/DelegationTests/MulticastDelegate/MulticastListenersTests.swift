// Specifies how closures listen instead of delegates.

private struct PlayerListener: Sendable {
  var didStart: Slot<Int>
  var didMove: Slot<Double, String>?
  var didStop: Slot<>?
}

@Suite struct MulticastListenersTests {
  private let listeners = MulticastListeners<PlayerListener>()
  let log = Log<String>()

  @Test func callsTheClosuresThatListenersHave() throws {
    for name in ["a", "b"] {
      listeners.add(
        PlayerListener(
          didStart: Slot { [log] in log.append("\(name) \($0)") },
          didMove: Slot { [log] in log.append("\(name) \($0) \($1)") },
          didStop: Slot { [log] in log.append("\(name) stopped") }), on: .inline)
    }
    listeners.add(PlayerListener(didStart: Slot { [log] in log.append("c \($0)") }), on: .inline)
    listeners.didStart(1)
    listeners.didMove(2, "me")
    listeners.didStop()
    #expect(
      log.entries == ["a 1", "b 1", "c 1", "a 2.0 me", "b 2.0 me", "a stopped", "b stopped"])
  }

  @Test func aListenerStaysUntilItsRegistrationIsCancelled() throws {
    let census = Census()
    let registration: Registration
    do {
      let canary = census.makeCanary()
      let listener = PlayerListener(
        didStart: Slot { [log] track in
          canary.sing()
          log.append("\(track)")
        })
      registration = listeners.add(listener, on: .inline)
    }
    listeners.didStart(1)
    registration.cancel()
    registration.cancel()
    listeners.didStart(2)
    #expect(log.entries == ["1"])
    #expect(listeners.count == 0)
    #expect(census.deaths == 1)
  }

  @Test func allListenersCanBeRemoved() throws {
    let slot = Slot<Int> { [log] in log.append("\($0)") }
    for _ in 0..<3 { listeners.add(PlayerListener(didStart: slot), on: .inline) }
    #expect(listeners.count == 3)
    listeners.removeAll()
    listeners.didStart(1)
    #expect(listeners.count == 0 && log.entries == [])
  }
}
