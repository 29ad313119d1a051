// Stands for the center inside the process.

internal import DarwinNotify

/// The local center: objects are pointers, and the poster calls the observers itself.
struct LocalKind: CenterKind {
  init() {}

  func key(of object: UnsafeRawPointer?) -> ObjectKey? {
    object.map { .pointer($0) }
  }

  func observe(
    _ registration: Registration, behavior: CFNotificationSuspensionBehavior
  ) throws -> NotificationObservation {
    var pointer: UnsafeRawPointer?
    if case .pointer(let object) = registration.object { pointer = object }
    return try LocalCenter.observe(registration.name?.text, object: pointer) { event in
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
