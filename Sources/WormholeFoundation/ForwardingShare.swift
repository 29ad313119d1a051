// Shares the registrations of forwardings.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Foundation

/// A share in the registration that forwards one source to one target.
struct ForwardingShare: Sendable {
  /// What is forwarded, where to, and its name there.
  struct Route: Hashable, Sendable {
    let source: Source
    let target: ObjectIdentifier
    let notification: Notification.Name
  }

  /// The source of what is forwarded.
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

  /// Joins those that forward the route. The first of them makes the registration.
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
