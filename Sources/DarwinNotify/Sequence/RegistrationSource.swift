// Makes the registrations of a sequence's iterations.

internal import DarwinNotifySupport

/// The registrations of the iterations over one sequence. The first is made in advance.
final class RegistrationSource<Registration: Sendable>: Sendable {
  private let make: @Sendable () throws(DarwinNotifyError) -> Registration
  private let first: Locked<Registration?>

  init(
    _ make: @escaping @Sendable () throws(DarwinNotifyError) -> Registration
  ) throws(DarwinNotifyError) {
    self.make = make
    first = Locked(try make())
  }

  /// Returns the registration of the next iteration; `nil` if it could not be made.
  func take() -> Registration? {
    first.withLock { $0.take() } ?? (try? make())
  }
}
