// Ends the forwarding to a notification center.

internal import DarwinNotifySupport

/// The forwarding of a name. It ends with this object.
///
/// Several that forward the same name to the same center share one registration, so that each post
/// is forwarded once. It ends with the last of them.
public final class Forwarding: Sendable {
  private let share: Locked<ForwardingShare?>

  init(_ share: ForwardingShare) {
    self.share = Locked(share)
  }

  deinit {
    cancel()
  }

  /// Ends the forwarding, unless others share it. Calling it again has no effect.
  public func cancel() {
    share.withLock { $0.take() }?.leave()
  }
}
