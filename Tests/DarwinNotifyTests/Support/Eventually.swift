// Waits for conditions, up to a deadline.
import DarwinNotify
import Dispatch
import TestSupport
import Testing

/// The factor by which this run is slower than usual.
let slowness = Int(test_slowness())

/// Waits until a condition holds. It is an issue of the test if that takes too long.
///
/// All tests share as many threads as there are processors: where many run at once, a task that
/// sleeps a moment may come back after the deadline. So there is a number of looks, too.
func eventually(
  _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: @Sendable () -> Bool
) async {
  let deadline = ContinuousClock.now + .seconds(20 * slowness)
  var looks = 0
  while !condition() {
    looks += 1
    guard ContinuousClock.now < deadline || looks < 100 else {
      Issue.record(comment ?? "the deadline has passed", sourceLocation: sourceLocation)
      return
    }
    try? await Task.sleep(for: .milliseconds(1))
  }
}

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

/// Returns when everything that a queue was given before has run.
func turn(_ queue: DispatchQueue) async {
  await withCheckedContinuation { continuation in
    queue.async { continuation.resume() }
  }
}
