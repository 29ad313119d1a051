// Detects when closures are freed.
internal import Synchronization

/// Counts canaries that have been freed.
package final class Census: Sendable {
  private let freed = Atomic<Int>(0)

  package init() {}

  package var deaths: Int { freed.load(ordering: .acquiring) }

  package func makeCanary() -> Canary { Canary(self) }

  fileprivate func countDeath() {
    freed.add(1, ordering: .acquiringAndReleasing)
  }
}

/// Captured by a closure, so that it is freed with the closure.
package final class Canary: Sendable {
  private let census: Census

  fileprivate init(_ census: Census) {
    self.census = census
  }

  deinit {
    census.countDeath()
  }

  /// Does nothing, but a closure that calls it captures the canary.
  package func sing() {}
}
