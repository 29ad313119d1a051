// Specifies the turns of the threads of a relay.
import Glibc
import Testing

@testable import notifyrelay

@Suite(.bounded)
struct TurnTests {
  @Test func newsWithoutEndIsLeftToTheMainThread() {
    let turn = Turn()
    var rounds = 0
    turn.finish = { [unowned turn] in
      rounds += 1
      turn.takeForNews()
    }
    turn.takeForNews()
    #expect(rounds == 16)
    var entry = pollfd(fd: turn.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 0) == 1)
    turn.clearRing()
    turn.take {}
    #expect(rounds == 32)
  }
}
