// Ends a registration.

/// Something that has been registered, and lasts until it is cancelled.
///
/// Dropping the value changes nothing, so it can be discarded.
public struct Registration: Sendable {
  private let end: @Sendable () -> Void

  init(end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  /// Ends the registration: no call starts after that. Calling it again changes nothing.
  ///
  /// It may be called on any thread, also by what was registered. It does not wait for calls that
  /// are running.
  public func cancel() {
    end()
  }
}
