// Waits for posts that are on their way.
import DarwinNotify
import Testing

/// An object that posts.
protocol Poster {
  func post(_ name: NotificationName) throws(DarwinNotifyError)
}

extension DarwinNotificationCenter: Poster {}

/// Returns when everything that a poster posted before has been passed to the handlers that run at
/// the same place: a fence from the same poster follows behind it.
func drain(
  _ center: DarwinNotificationCenter, behind poster: any Poster, on delivery: Delivery
) async throws {
  let passed = Recorder()
  let observation = try center.observe("com.example.fence", on: delivery) { passed.record($0) }
  try poster.post("com.example.fence")
  await eventually("the fence did not arrive") { passed.posts > 0 }
  observation.cancel()
}
