// Listens while an asynchronous main waits forever.
import DarwinNotify
import ShapeSupport

@main
struct ShapeAsyncMain {
  static func main() async throws {
    let observation = try listenOnTheMainQueue()
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    observation.cancel()
  }
}
