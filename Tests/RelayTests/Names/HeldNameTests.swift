// Specifies which of several states of a name a relay takes.
import Foundation
import Testing

@testable import notifyrelay

@Suite(.bounded)
struct HeldNameTests {
  /// All relays decide alike, whichever state they hear first.
  @Test func ofStatesSetAtTheSameTimeThatOfTheGreatestOriginIsTaken() throws {
    let row = NameRow(stateSet: 5, stateOrigin: Origin(number: 3))
    let held = try HeldName("com.example.\(UUID())", row: row, changes: HeldName.Changes())
    let states: [(set: Int64, origin: UInt64, isTaken: Bool)] = [
      (4, 9, false), (5, 2, false), (5, 3, false), (5, 4, true), (6, 1, true),
    ]
    for (set, origin, isTaken) in states {
      let taken = TakenState(state: 7, set: set, origin: Origin(number: origin))
      #expect(held.isNew(taken, own: Origin(number: 1)) == isTaken, "\(set) \(origin)")
    }
  }
}
