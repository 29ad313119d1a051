// Tells whether a watch continues.

/// The decision of a closure of ``DarwinNotificationCenter/watchPosts(on:prefix:ready:_:)``.
///
/// The corresponding C values are the results of the callbacks of `dn_watcher`.
public enum WatchDecision: Hashable, Sendable {
  /// The watch continues.
  case proceed

  /// The watch ends.
  case stop
}
