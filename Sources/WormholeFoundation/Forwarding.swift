// Forwards Darwin notifications to a notification center of Foundation.

public import DarwinNotify
internal import DarwinNotifySupport
internal import Dispatch
public import Foundation

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

/// A share in the registration that forwards one source to one target.
struct ForwardingShare: Sendable {
  /// A source, its target, and the name of the notification there.
  struct Route: Hashable, Sendable {
    let source: Source
    let target: ObjectIdentifier
    let notification: Notification.Name
  }

  /// A forwarded source: a notification, or the messages of a name.
  enum Source: Hashable, Sendable {
    case notification(NotificationName, center: ObjectIdentifier)
    case messages(ExactString, directory: String, value: ObjectIdentifier)
  }

  /// A registration. It is the one that posts as long as it is in the table.
  final class Registration: Sendable {
    private let source = Locked<(any Sendable)?>(nil)
    private let route: Route

    fileprivate init(_ route: Route) {
      self.route = route
    }

    /// Keeps an object that ends the registration when it is dropped.
    func keep(_ source: any Sendable) {
      self.source.withLock { $0 = source }
    }

    /// Whether no other thread that registered at the same time was faster.
    var isInUse: Bool {
      ForwardingShare.entries.withLock { $0[route]?.registration === self }
    }
  }

  private struct Entry {
    let registration: Registration
    var users: Int
  }

  private static let entries = Locked<[Route: Entry]>([:])

  private let route: Route

  /// Joins the other forwardings of the route. The first one makes the registration.
  init<Failure: Error>(
    in route: Route, register: (Registration) throws(Failure) -> Void
  ) throws(Failure) {
    self.route = route
    let isShared = Self.entries.withLock { entries in
      entries[route]?.users += 1
      return entries[route] != nil
    }
    if isShared { return }
    let registration = Registration(route)
    try register(registration)
    Self.entries.withLock { entries in
      entries[route, default: Entry(registration: registration, users: 0)].users += 1
    }
  }

  /// Leaves the others; the last one ends the registration, after the lock is released.
  func leave() {
    let last = Self.entries.withLock { entries -> Registration? in
      entries[route]?.users -= 1
      guard entries[route]?.users == 0 else { return nil }
      return entries.removeValue(forKey: route)?.registration
    }
    withExtendedLifetime(last) {}
  }
}

extension Delivery {
  /// The place from which to post to Foundation's observers.
  ///
  /// Foundation waits for an observer's queue unless that is `OperationQueue.current`. In an
  /// asynchronous `main` the main dispatch queue does not count as the main operation queue: a
  /// post from there would wait for itself.
  var forObservers: Delivery {
    switch self {
    case .main: .loop { work in OperationQueue.main.addOperation(work) }
    // There may be several objects for that queue.
    case .queue(let queue) where queue.label == DispatchQueue.main.label:
      Delivery.main.forObservers
    case .actor(let actor) where actor === MainActor.shared: Delivery.main.forObservers
    case .queue, .thread, .inline, .executor, .actor, .loop: self
    }
  }
}

extension DarwinNotificationCenter {
  /// Posts a notification again through a notification center of Foundation, whenever it arrives.
  ///
  /// Foundation's observers are called once for each post, however often and by whomever the name
  /// is forwarded from this center to that one. The `userInfo` has the number of posts that the
  /// notification stands for under `"coalesced"`: 1, unless more arrived than the center could
  /// deliver one by one.
  ///
  /// - Parameters:
  ///   - name: the name to listen for.
  ///   - target: the center to post through.
  ///   - notification: the name to post; by default the same text.
  ///   - delivery: where Foundation's observers are called, unless they ask for a queue. If the
  ///     name is already forwarded to that center, the first choice stays in effect.
  /// - Returns: the forwarding, which ends with the value or when it is cancelled.
  /// - Throws: what ``DarwinNotify/DarwinNotificationCenter/observe(_:on:_:)`` throws.
  public func forward(
    _ name: NotificationName, to target: NotificationCenter,
    as notification: Notification.Name? = nil, on delivery: Delivery = .main
  ) throws -> Forwarding {
    let notification = notification ?? Notification.Name(name.rawValue)
    let route = ForwardingShare.Route(
      source: .notification(name, center: ObjectIdentifier(self)),
      target: ObjectIdentifier(target), notification: notification)
    return Forwarding(
      try ForwardingShare(in: route) { registration in
        let observation = try observe(name, on: delivery.forObservers) {
          [weak registration] event in
          guard registration?.isInUse == true else { return }
          target.post(
            name: notification, object: nil, userInfo: ["coalesced": event.coalesced])
        }
        // The center is also kept: another center at the same address later would be mistaken for
        // it.
        registration.keep((self, observation))
      })
  }
}
