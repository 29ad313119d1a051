// The places where a handler can run.

public import Dispatch

/// Where a handler runs.
///
/// Whatever the choice, the calls of one handler run one after another and never overlap, not even
/// on a concurrent queue. Modules that call handlers document what they add to that. The
/// corresponding C type is `dn_executor`.
public enum Delivery: Sendable {
  /// On `DispatchQueue.main`, which is also the main actor.
  ///
  /// That is where the handler runs, not what the compiler knows: with `on: .main` a handler is
  /// `@Sendable`, and uses the state of the main actor by `MainActor.assumeIsolated`. The forms
  /// without `on:` take handlers that are isolated to the main actor.
  ///
  /// It runs under `dispatchMain()`, in an asynchronous `main` or in the run loop of the main
  /// thread; for a main thread that waits in another loop, use ``loop(_:)``.
  case main

  /// On a dispatch queue, serial or concurrent.
  case queue(DispatchQueue)

  /// On a thread of the library, shared by all such handlers; they may block.
  ///
  /// Signals are blocked there, as they are on the threads of Dispatch. A program that a handler
  /// starts inherits this and would ignore `SIGTERM`, unless it is given an empty set of signals:
  ///
  ///     var none = sigset_t()
  ///     sigemptyset(&none)
  ///     posix_spawnattr_setsigmask(&attributes, &none)
  ///     posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  ///
  /// The corresponding C function is `dn_executor_delivery_thread`.
  case thread

  /// On the thread where the event occurs: the lowest latency.
  ///
  /// For a notification that is the thread that other processes wake: the handler must not block.
  /// For a call inside the process it is the caller's thread. The corresponding C function is
  /// `dn_executor_inline`.
  case inline

  /// On a serial executor, that is, isolated to the actors that run there.
  case executor(any SerialExecutor)

  /// Isolated to an actor, which lives as long as the registration.
  case actor(any Actor)

  /// In an event loop of the host, such as that of GLib or Qt.
  ///
  /// The function is passed work, on any thread. It must return at once; the loop then runs each
  /// piece of work exactly once, in the order received.
  case loop(@Sendable (@escaping @Sendable () -> Void) -> Void)
}

/// Returns a handler for the delivery `.main`.
package func onMainActor<Event: Sendable>(
  _ handler: @escaping @MainActor @Sendable (Event) -> Void
) -> @Sendable (Event) -> Void {
  { event in MainActor.assumeIsolated { handler(event) } }
}

/// Returns a handler for delivery to an actor.
package func onActor<Isolation: Actor, Event: Sendable>(
  _ actor: Isolation, _ handler: @escaping @Sendable (isolated Isolation, Event) -> Void
) -> @Sendable (Event) -> Void {
  { event in actor.assumeIsolated { handler($0, event) } }
}
