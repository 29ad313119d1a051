// Counts signals.
import Glibc
import Synchronization

/// Counts the signals of one number. A process can use it once.
enum CaughtSignals {
  static var count: Int { seen.load(ordering: .acquiring) }

  /// Starts counting a signal.
  static func install(for number: CInt) {
    _ = count  // A handler could not initialize it.
    signal(number) { _ in seen.add(1, ordering: .acquiringAndReleasing) }
  }
}

private let seen = Atomic<Int>(0)
