// Gives a handler a name.

/// A handler with a name, by which it is replaced or removed.
///
/// A listener that is bound under a name that is taken replaces the one before: however often the
/// code that binds it runs, each post is handled once.
public struct Listener<Event>: Sendable {
  /// The name of the listener. It matters only among the listeners of one notification.
  public let name: String

  /// What the listener does.
  public let action: @Sendable (Event) -> Void

  /// Makes a listener.
  ///
  /// - Parameters:
  ///   - name: the name of the listener.
  ///   - action: what the listener does. It runs where the listener is bound to run.
  public init(_ name: String, _ action: @escaping @Sendable (Event) -> Void) {
    self.name = name
    self.action = action
  }
}
