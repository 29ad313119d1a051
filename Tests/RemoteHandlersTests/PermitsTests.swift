// Specifies how requests wait for their turn.
@testable import RemoteHandlers

@Suite(.bounded)
struct PermitsTests {
  private let permits = Permits(1)
  private let begun = Log<Int>()

  @Test func workBeginsInTheOrderInWhichItCame() {
    for number in 1...3 { permits.take { begun.append(number) } }
    #expect(begun.entries == [1])
    permits.give()
    #expect(begun.entries == [1, 2])
    permits.give()
    #expect(begun.entries == [1, 2, 3])
  }

  @Test func workThatComesWhileOtherWorkBeginsComesAfterIt() {
    permits.take {
      // Two for the two that wait, from here, where neither may begin.
      permits.take { begun.append(2) }
      permits.take { begun.append(3) }
      permits.give()
      permits.give()
      begun.append(1)
    }
    #expect(begun.entries == [1, 2, 3])
  }
}
