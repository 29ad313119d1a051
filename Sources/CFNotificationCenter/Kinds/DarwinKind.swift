// Stands for the center whose notifications are names.

internal import DarwinNotify

/// The Darwin center: there are neither objects nor user infos.
struct DarwinKind: CenterKind {
  private let center: DarwinNotificationCenter

  init(_ center: DarwinNotificationCenter) {
    self.center = center
  }

  func key(of object: UnsafeRawPointer?) -> ObjectKey? { nil }

  func observe(
    _ registration: Registration, behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation {
    guard let name = registration.name?.text else { throw DarwinNotifyError.invalidArgument }
    return try center.observe(NotificationName(name), on: .main) { _ in registration.call(name) }
  }

  func post(
    _ name: CFString, object: UnsafeRawPointer?, userInfo: CFDictionary?, options: CFOptionFlags
  ) throws {
    try center.post(NotificationName(name))
  }
}
