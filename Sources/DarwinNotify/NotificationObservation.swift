// Ends a registration.

internal import CDarwinNotify

/// A registered handler, for as long as the value lives.
///
/// The corresponding C type is `dn_observer`.
public final class NotificationObservation: @unchecked Sendable {
  // The pointer never changes. C accepts it on any thread.
  let observer: OpaquePointer

  /// Takes over one reference of an observer.
  init(adopting observer: OpaquePointer) {
    self.observer = observer
  }

  deinit {
    dn_observer_cancel(observer)
    dn_observer_unref(observer)
  }

  /// Ends the registration. To call it again changes nothing.
  ///
  /// Where the handler runs, no call of it follows, not even of a post that is already on its
  /// way. From elsewhere, at most one call that has begun comes to its end.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func cancel() {
    dn_observer_cancel(observer)
  }

  /// Ends the registration, then waits until no call of the handler is running any more.
  ///
  /// It waits as long as the handler runs, so do not hold a lock that the handler takes. A
  /// handler that calls it does not wait for itself.
  ///
  /// The corresponding C function is `dn_observer_cancel_wait`.
  public func cancelAndWait() {
    dn_observer_cancel_wait(observer)
  }
}
