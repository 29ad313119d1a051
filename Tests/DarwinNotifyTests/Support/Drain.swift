// Waits for posts on their way.
import DarwinNotify
import Testing

/// Somebody who posts.
protocol Poster {
  func post(_ name: NotificationName) throws(DarwinNotifyError)
}

extension DarwinNotificationCenter: Poster {}

/// Returns when everything that was posted before by a poster has been handed to the handlers that
/// run at the same place: a fence of the same poster goes the same way behind it.
func drain(
  _ center: DarwinNotificationCenter, behind poster: any Poster, on delivery: Delivery
) async throws {
  let passed = Recorder()
  let observation = try center.observe("com.example.fence", on: delivery) { passed.record($0) }
  try poster.post("com.example.fence")
  await eventually("the fence did not come") { passed.posts > 0 }
  observation.cancel()
}
