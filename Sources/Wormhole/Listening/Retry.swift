// Waits until it is worthwhile to try again.

internal import Foundation

/// A look at what could not be read, a little later.
///
/// It waits on a thread of its own: the timers of Dispatch end the process when they find no
/// descriptor left, and that may be what prevented reading.
enum Retry {
  private static let pause: TimeInterval = 0.1

  /// Runs work later.
  static func later(_ work: @escaping @Sendable () -> Void) {
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: pause)
      work()
    }
  }

  /// Returns later.
  static func wait(isolation: isolated (any Actor)? = #isolation) async {
    await withCheckedContinuation(isolation: isolation) { continuation in
      later { continuation.resume() }
    }
  }
}
