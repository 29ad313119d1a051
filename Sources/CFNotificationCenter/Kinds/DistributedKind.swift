// Stands for the center whose notifications carry objects and user infos to other processes.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import DistributedNotifications
internal import Foundation

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
    _ registration: Registration, behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation {
    var object: String?
    if case .text(let text) = registration.object { object = text.text }
    return try center.observe(
      registration.name.map { Notification.Name($0.text) }, object: object,
      suspensionBehavior: .init(rawValue: UInt(behavior.rawValue)) ?? .coalesce, on: .main
    ) { notification in
      let object = notification.object.map { NSString(string: $0) }
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

/// Reads the string that a caller points to, as Apple's center does.
private func text(of object: UnsafeRawPointer?) -> String? {
  object.map { String(describing: unsafeBitCast($0, to: NSString.self)) }
}

private func address(of string: NSString) -> UnsafeRawPointer {
  unsafeBitCast(string, to: UnsafeRawPointer.self)
}
