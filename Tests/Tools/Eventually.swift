// Waits for conditions, up to a deadline.
package import Dispatch
internal import Glibc
package import Testing

/// The factor by which this run is slower than usual.
package let slowness = max(1, getenv("DN_TEST_SLOW").flatMap { Int(String(cString: $0)) } ?? 1)

/// Waits until a condition holds. It is an issue of the test if that takes too long.
///
/// All tests share as many threads as there are processors: where many run at once, a task that
/// sleeps a moment may come back after the deadline. So there is a number of looks, too.
package func eventually(
  _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: @Sendable () async -> Bool
) async {
  let deadline = ContinuousClock.now + .seconds(20 * slowness)
  var looks = 0
  while await !condition() {
    looks += 1
    guard ContinuousClock.now < deadline || looks < 100 else {
      Issue.record(comment ?? "the deadline has passed", sourceLocation: sourceLocation)
      return
    }
    try? await Task.sleep(for: .milliseconds(1))
  }
}

/// Returns when everything that a queue was given before has run.
package func turn(_ queue: DispatchQueue) async {
  await withCheckedContinuation { continuation in
    queue.async { continuation.resume() }
  }
}
