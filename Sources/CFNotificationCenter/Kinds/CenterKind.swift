// Says what a kind of center does.

internal import DarwinNotify

/// What is behind a center.
protocol CenterKind: Sendable {
  /// How an object is compared; `nil` if any will do.
  func key(of object: UnsafeRawPointer?) -> ObjectKey?

  /// Calls a registration for every post that fits.
  func observe(
    _ registration: Registration, behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation

  /// Posts a notification.
  func post(
    _ name: CFString, object: UnsafeRawPointer?, userInfo: CFDictionary?, options: CFOptionFlags
  ) throws
}
