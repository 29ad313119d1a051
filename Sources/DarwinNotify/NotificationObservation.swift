// Ends a registration.

internal import CDarwinNotify

/// A registered handler. The registration ends with this object.
///
/// The corresponding C type is `dn_observer`.
public final class NotificationObservation: @unchecked Sendable {
  // The pointer never changes. C accepts it on any thread.
  let observer: OpaquePointer

  /// Takes over one reference to an observer.
  init(adopting observer: OpaquePointer) {
    self.observer = observer
  }

  deinit {
    dn_observer_cancel(observer)
    dn_observer_unref(observer)
  }

  /// Ends the registration. Calling it again has no effect.
  ///
  /// If called where the handler runs, no call of the handler follows, not even for a post that is
  /// already on its way. If called elsewhere, at most one call that has already begun may still
  /// finish.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func cancel() {
    dn_observer_cancel(observer)
  }

  /// Ends the registration, then waits until no call of the handler is running.
  ///
  /// It waits as long as the handler runs, so do not hold a lock that the handler takes. Called
  /// from the handler itself, it does not wait for that call.
  ///
  /// The corresponding C function is `dn_observer_cancel_wait`.
  public func cancelAndWait() {
    dn_observer_cancel_wait(observer)
  }
}
