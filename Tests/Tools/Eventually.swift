// Waits for conditions, up to a deadline.
package import Dispatch
internal import Glibc
package import Testing

/// The factor by which this run is slower than usual.
package let slowness = max(1, getenv("DN_TEST_SLOW").flatMap { Int(String(cString: $0)) } ?? 1)

extension Trait where Self == TimeLimitTrait {
  /// Ends a test that hangs, such as one whose sequence yields too little.
  package static var bounded: Self { .timeLimit(.minutes(2 * slowness)) }
}

/// Waits until a condition holds. Records an issue if that takes too long.
///
/// All tests share as many threads as there are processors: if many run at once, a task that sleeps
/// for a moment may not continue until after the deadline. So a minimum number of checks is
/// also required.
package func eventually(
  _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: @Sendable () async -> Bool
) async {
  let deadline = ContinuousClock.now + .seconds(60 * slowness)
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

/// Returns when all work already in a queue has run.
package func turn(_ queue: DispatchQueue) async {
  await withCheckedContinuation { continuation in
    queue.async { continuation.resume() }
  }
}
