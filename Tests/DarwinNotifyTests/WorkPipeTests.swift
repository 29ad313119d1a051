// Specifies the pipe of work between a sequence and the task that reads it.
@testable import DarwinNotify

@Suite(.bounded)
struct WorkPipeTests {
  private let pipe = WorkPipe()
  private let log = Log<Int>()

  private func add(_ numbers: ClosedRange<Int>) {
    for number in numbers { pipe.add { log.append(number) } }
  }

  @Test func runsWhatIsLeftWhenItEnds() async {
    add(1...5)
    await pipe.next(isolation: nil)?()
    pipe.finish()
    #expect(log.entries == [1, 2, 3, 4, 5])
    #expect(await pipe.next(isolation: nil) == nil)
  }

  @Test func runsWhatComesAfterItsEnd() async {
    pipe.finish()
    add(1...1)
    await eventually("the work does not run") { log.entries == [1] }
  }
}
