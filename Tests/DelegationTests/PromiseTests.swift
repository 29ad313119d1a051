// Specifies how a task gets a value from another thread.

@Suite(.bounded)
struct PromiseTests {
  @Test func theValueDoesNotStayInThePromise() async {
    final class Canary: Sendable {}
    let promise = Promise<Canary>()
    weak var reference: Canary?
    do {
      let canary = Canary()
      reference = canary
      promise.provide(canary)
    }
    #expect(reference != nil)
    _ = await promise.value()
    #expect(reference == nil)
    #expect(!promise.provide(Canary()))
  }
}
