// The implementations of a center: Darwin, distributed or local notifications.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import DistributedNotifications
internal import Foundation

/// The implementation of a center.
protocol CenterKind: Sendable {
  /// How an object is compared; `nil` if any will do.
  func key(of object: UnsafeRawPointer?) -> ObjectKey?

  /// Calls a registration for every post that fits. The object is that of the registration.
  func observe(
    _ registration: Registration, object: UnsafeRawPointer?,
    behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation

  /// Posts a notification.
  func post(
    _ name: CFString, object: UnsafeRawPointer?, userInfo: CFDictionary?, options: CFOptionFlags
  ) throws
}

/// The Darwin center: there are neither objects nor user infos.
struct DarwinKind: CenterKind {
  private let center: DarwinNotificationCenter

  init(_ center: DarwinNotificationCenter) {
    self.center = center
  }

  func key(of object: UnsafeRawPointer?) -> ObjectKey? { nil }

  func observe(
    _ registration: Registration, object: UnsafeRawPointer?,
    behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation {
    guard let name = registration.name?.text else { throw MissingArgument.name }
    return try center.observe(NotificationName(name), on: .main) { _ in registration.call(name) }
  }

  func post(
    _ name: CFString, object: UnsafeRawPointer?, userInfo: CFDictionary?, options: CFOptionFlags
  ) throws {
    try center.post(NotificationName(name))
  }
}

/// The distributed center: objects are pointers to strings, which are compared as text.
struct DistributedKind: CenterKind {
  private let center: DistributedNotificationCenter

  init(_ center: DistributedNotificationCenter) {
    self.center = center
  }

  func key(of object: UnsafeRawPointer?) -> ObjectKey? {
    text(of: object).map { .text(ExactString($0)) }
  }

  func observe(
    _ registration: Registration, object: UnsafeRawPointer?,
    behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation {
    // Observers that ask for an object get this one, since wrappers compare pointers.
    nonisolated(unsafe) let wanted = object.map(string(at:))
    return try center.observe(
      registration.name.map { Notification.Name($0.text) }, object: text(of: object),
      suspensionBehavior: .init(rawValue: UInt(behavior.rawValue)) ?? .coalesce, on: .main
    ) { notification in
      let object = wanted ?? notification.object.map { NSString(string: $0) }
      // The callback borrows the pointer.
      withExtendedLifetime(object) {
        registration.call(
          notification.name.rawValue, object: object.map { address(of: $0) },
          userInfo: notification.userInfo)
      }
    }
  }

  func post(
    _ name: CFString, object: UnsafeRawPointer?, userInfo: CFDictionary?, options: CFOptionFlags
  ) throws {
    try center.post(
      Notification.Name(name), object: text(of: object), userInfo: userInfo,
      options: .init(rawValue: options))
  }
}

/// The string that a caller points to, as Apple's center takes it.
private func string(at object: UnsafeRawPointer) -> NSString {
  unsafeBitCast(object, to: NSString.self)
}

private func text(of object: UnsafeRawPointer?) -> String? {
  object.map { String(describing: string(at: $0)) }
}

private func address(of string: NSString) -> UnsafeRawPointer {
  unsafeBitCast(string, to: UnsafeRawPointer.self)
}

/// The local center: objects are pointers, and the poster calls the observers itself.
struct LocalKind: CenterKind {
  init() {}

  func key(of object: UnsafeRawPointer?) -> ObjectKey? {
    object.map { .pointer($0) }
  }

  func observe(
    _ registration: Registration, object: UnsafeRawPointer?,
    behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation {
    return try LocalCenter.observe(registration.name?.text, object: object) { event in
      registration.call(
        event.name, object: event.object, userInfo: (event.userInfo as? UserInfo)?.dictionary)
    }
  }

  func post(
    _ name: CFString, object: UnsafeRawPointer?, userInfo: CFDictionary?, options: CFOptionFlags
  ) throws {
    try LocalCenter.post(name, object: object, userInfo: userInfo.map { UserInfo($0) })
  }
}

/// A user info on its way through C.
private final class UserInfo {
  let dictionary: CFDictionary

  init(_ dictionary: CFDictionary) {
    self.dictionary = dictionary
  }
}
