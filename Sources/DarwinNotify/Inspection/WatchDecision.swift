// Tells whether a watch goes on.

/// What a closure of ``DarwinNotificationCenter/watchPosts(on:prefix:ready:_:)`` decides.
///
/// The corresponding C values are the results of the callbacks of `dn_watcher`.
public enum WatchDecision: Hashable, Sendable {
  /// The watch goes on.
  case proceed

  /// The watch ends.
  case stop
}
