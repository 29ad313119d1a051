// Lists the places where a handler can run.

public import Dispatch

/// Where a handler runs.
///
/// Whatever the choice, the calls of one handler follow each other and never overlap, not even on a
/// concurrent queue. A module that calls handlers says what it adds to that. The corresponding C
/// type is `dn_executor`.
public enum Delivery: Sendable {
  /// On `DispatchQueue.main`, which is also the main actor.
  ///
  /// It is served under `dispatchMain()`, in an asynchronous `main` or by the run loop of the
  /// main thread; a main thread that waits in another loop needs ``loop(_:)``.
  case main

  /// On a dispatch queue, serial or concurrent.
  case queue(DispatchQueue)

  /// On a thread of the library that all such handlers share; they may block.
  ///
  /// The corresponding C function is `dn_executor_delivery_thread`.
  case thread

  /// On the thread where the event occurs: the shortest way.
  ///
  /// For a notification that is the thread that reads the bus, and the handler must not block. For
  /// a call inside the process it is the thread of the caller. The corresponding C function is
  /// `dn_executor_inline`.
  case direct

  /// On a serial executor, that is, in the isolation of the actors that live there.
  case executor(any SerialExecutor)

  /// In the isolation of an actor, which lives as long as the registration.
  case actor(any Actor)

  /// In an event loop of the host, such as that of GLib or Qt.
  ///
  /// The function is handed a piece of work on any thread. It has to return at once; the loop then
  /// runs each piece exactly once, in the order in which they came.
  case loop(@Sendable (@escaping @Sendable () -> Void) -> Void)
}
