// Isolates handlers to the place where they run.

/// Returns a handler for the delivery `.main`.
package func onMainActor<Event: Sendable>(
  _ handler: @escaping @MainActor @Sendable (Event) -> Void
) -> @Sendable (Event) -> Void {
  { event in MainActor.assumeIsolated { handler(event) } }
}

/// Returns a handler for delivery to an actor.
package func isolated<Isolation: Actor, Event: Sendable>(
  to actor: Isolation, _ handler: @escaping @Sendable (isolated Isolation, Event) -> Void
) -> @Sendable (Event) -> Void {
  { event in actor.assumeIsolated { handler($0, event) } }
}
