// Ends a registration.

/// A registration, which lasts until it is cancelled.
///
/// Dropping the value does not end the registration.
public struct Registration: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  /// Ends the registration: no call starts after that. Calling it again has no effect.
  ///
  /// It may be called on any thread, even by what was registered. It does not wait for running
  /// calls.
  public func cancel() {
    end()
  }
}
