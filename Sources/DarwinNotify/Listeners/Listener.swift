// Gives a handler a name.

internal import DarwinNotifySupport

/// A handler with a name, by which it is replaced or removed.
///
/// Binding a listener replaces the one of the same name, so each event is handled once, however
/// often the code that binds it runs.
///
///     Listener("label") { event in label.text = "\(event.name)" }
///     Listener("log", on: .thread) { event in print(event.name) }
///     Listener("count", on: counter) { counter, event in counter.increase() }
public struct Listener<Event: Sendable>: Sendable {
  /// The name of the listener. It must be unique only among the listeners of one notification or
  /// message.
  public let name: String

  /// The handler. Call it only on ``delivery``.
  public let action: @Sendable (Event) -> Void

  /// Where the handler runs.
  public let delivery: Delivery

  /// Creates a listener that runs on the main actor.
  ///
  /// - Parameters:
  ///   - name: the name of the listener.
  ///   - action: the handler.
  public init(_ name: String, _ action: @escaping @MainActor @Sendable (Event) -> Void) {
    self.init(name, on: .main, onMainActor(action))
  }

  /// Creates a listener that runs where `on:` says.
  ///
  /// - Parameters:
  ///   - name: the name of the listener.
  ///   - delivery: where the handler runs.
  ///   - action: the handler.
  public init(
    _ name: String, on delivery: Delivery, _ action: @escaping @Sendable (Event) -> Void
  ) {
    self.name = name
    self.delivery = delivery
    self.action = action
  }

  /// Creates a listener that is isolated to an actor.
  ///
  /// - Parameters:
  ///   - name: the name of the listener.
  ///   - actor: the actor. It lives as long as the listener is bound.
  ///   - action: the handler, which is passed the actor and the event.
  public init<Isolation: Actor>(
    _ name: String, on actor: Isolation,
    _ action: @escaping @Sendable (isolated Isolation, Event) -> Void
  ) {
    self.init(name, on: .actor(actor), onActor(actor, action))
  }
}
