// Counts signals.
import Glibc
import Synchronization

/// The signals that a handler has counted. One signal in a process.
enum CaughtSignals {
  static var count: Int { seen.load(ordering: .acquiring) }

  /// Counts a signal from now on.
  static func install(for number: CInt) {
    _ = count  // Initializes it, which a handler could not.
    signal(number) { _ in seen.add(1, ordering: .acquiringAndReleasing) }
  }
}

private let seen = Atomic<Int>(0)
