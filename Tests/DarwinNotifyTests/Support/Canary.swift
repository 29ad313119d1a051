// Tells when closures are freed.
import Synchronization

/// Counts canaries that have been freed.
final class Census: Sendable {
  private let freed = Atomic<Int>(0)

  var deaths: Int { freed.load(ordering: .acquiring) }

  func makeCanary() -> Canary { Canary(self) }

  fileprivate func countDeath() {
    freed.add(1, ordering: .acquiringAndReleasing)
  }
}

/// Is captured by a closure, so that it is freed with the closure.
final class Canary: Sendable {
  private let census: Census

  init(_ census: Census) {
    self.census = census
  }

  deinit {
    census.countDeath()
  }

  /// Keeps the canary in a closure that has no other use for it.
  func sing() {}
}

/// Does not keep a canary alive.
final class WeakCanary: Sendable {
  private weak let canary: Canary?

  init(_ canary: Canary) {
    self.canary = canary
  }

  var isAlive: Bool { canary != nil }
}
