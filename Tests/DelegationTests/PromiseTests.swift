// Specifies how a task gets a value from another thread.
import DarwinNotifySupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct PromiseTests {
  @Test func onlyTheFirstValueCounts() async {
    let promise = Promise<Int?>()
    #expect(promise.provide(nil))
    #expect(!promise.provide(1))
    #expect(await promise.value() == nil)
  }

  @Test func aTaskWaitsForTheValue() async {
    let promise = Promise<Int>()
    async let value = promise.value()
    await Task.yield()
    #expect(promise.provide(1))
    #expect(await value == 1)
  }
}
