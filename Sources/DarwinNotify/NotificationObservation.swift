// Ends a registration.

internal import CDarwinNotify
public import DarwinNotifySupport
internal import Dispatch

/// A registered handler. The registration ends with this object.
///
/// It is not called `Observation`: that would hide the module of that name from `@Observable`.
///
/// The corresponding C type is `dn_observer`.
public final class NotificationObservation: Sendable {
  /// What the observation ends.
  let registration: any ObservedRegistration

  /// Creates the observation of a registration.
  package init(_ registration: any ObservedRegistration) {
    self.registration = registration
  }

  deinit {
    registration.cancel()
  }

  /// Ends the registration. Calling it again has no effect.
  ///
  /// After a call made where the handler runs, the handler does not run again, not even for a post
  /// that is already on its way. After a call from anywhere else, at most one run that has already
  /// begun completes.
  ///
  /// The corresponding C function is `dn_observer_cancel`.
  public func cancel() {
    registration.cancel()
  }

  /// Ends the registration, then blocks the thread until no call of the handler is running.
  ///
  /// It waits as long as the handler runs or is being released, so do not hold a lock that the
  /// handler takes, or that releasing it takes. Called from the handler itself, it does not wait
  /// for that call.
  ///
  /// The corresponding C function is `dn_observer_cancel_wait`.
  @available(*, noasync, message: "await end() instead")
  public func cancelAndWait() {
    registration.cancel()
    registration.waitUntilIdle()
  }

  /// Ends the registration, then waits until no call of the handler is running.
  ///
  /// Afterwards, everything that the handler used may be released. Do not hold anything meanwhile
  /// that the handler, or releasing it, waits for, like a lock. Called from an asynchronous handler
  /// itself, it does not wait for that call; a task that a handler waits for must not await this.
  ///
  /// The corresponding C function is `dn_observer_cancel_wait`.
  public func end() async {
    registration.cancel()
    guard !registration.isCallingThisTask else { return }
    await withCheckedContinuation { ended in
      DispatchQueue.global().async {
        self.registration.waitUntilIdle()
        ended.resume()
      }
    }
  }
}

/// A registration that an observation ends.
package protocol ObservedRegistration: Sendable {
  /// Ends the registration. Calling it again has no effect.
  func cancel()

  /// Waits until no call of the handler is running, except the one that calls this.
  func waitUntilIdle()

  /// Whether the current task is a call of an asynchronous handler.
  var isCallingThisTask: Bool { get }
}

extension ObservedRegistration {
  package var isCallingThisTask: Bool { false }
}

/// The registration of an observer in C.
final class ObserverReference: ObservedRegistration, @unchecked Sendable {
  // The pointer never changes. C accepts it on any thread.
  let observer: OpaquePointer

  /// Takes over one reference to an observer.
  init(adopting observer: OpaquePointer) {
    self.observer = observer
  }

  deinit {
    dn_observer_unref(observer)
  }

  func cancel() {
    dn_observer_cancel(observer)
  }

  func waitUntilIdle() {
    dn_observer_cancel_wait(observer)
  }
}

/// One delivery of a notification.
///
/// The corresponding C type is `dn_event`.
public struct NotificationEvent: Hashable, Sendable {
  /// The name that was posted.
  public let name: NotificationName

  /// How many posts this delivery stands for, 1 or more.
  ///
  /// Posts that wait for a slow listener are eventually merged, but each of them is counted. The
  /// corresponding C field is `n_posts`.
  public let coalesced: Int

  /// How many posts before this one are missing: 0, except for an observer of a prefix.
  ///
  /// Either there was no room for all posts that were waiting for it, or the bus dropped some of a
  /// name that the table does not count, which the same process had posted before. The
  /// corresponding C field is `n_dropped`.
  public let dropped: Int

  /// The process that posted it, if known; `nil` if several processes may have posted it.
  ///
  /// The sender is known for posts of this process that were not merged: `sender?.isOwn != true`
  /// leaves them out. The table counts the posts of other processes without recording who posted;
  /// an observer of a prefix gets the connection of a post that no table counts. If another process
  /// posts the same name at the same moment, an observer of a prefix may not know the sender of a
  /// post of this process either. The corresponding C field is `sender`.
  public let sender: Sender?

  /// Creates an event, for example to test a listener.
  ///
  /// - Parameters:
  ///   - name: the name that was posted.
  ///   - coalesced: how many posts the event stands for, 1 or more.
  ///   - dropped: how many posts before it are missing.
  ///   - sender: the process that posted it.
  public init(
    name: NotificationName, coalesced: Int = 1, dropped: Int = 0, sender: Sender? = nil
  ) {
    self.name = name
    self.coalesced = coalesced
    self.dropped = dropped
    self.sender = sender
  }
}
