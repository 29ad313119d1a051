// Specifies how requests wait for their turn.
@testable import RemoteHandlers

@Suite(.bounded)
struct PermitsTests {
  private let permits = Permits(1)

  @Test func theFirstThatStillWaitsGetsThePermit() async throws {
    let taken = Log<Int>()
    func wait(_ number: Int) -> Task<Void, Never> {
      Task.immediate {
        if (try? await permits.take()) != nil { taken.append(number) }
      }
    }
    try await permits.take()
    let (first, second) = (wait(1), wait(2))
    first.cancel()
    await first.value
    permits.give()
    await second.value
    #expect(taken.entries == [2])
  }
}
