// Keeps the registrations of observers.

internal import DarwinNotify
internal import DarwinNotifySupport
internal import Synchronization

/// How a center compares objects.
enum ObjectKey: Hashable, @unchecked Sendable {
  // A pointer is compared, never followed.
  case pointer(UnsafeRawPointer)
  case text(ExactString)
}

/// A callback as a center keeps it; a `CFNotificationCallback` is one.
typealias KeptCallback = (
  CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?,
  CFDictionary?
) -> Void

/// One registration.
final class Registration: @unchecked Sendable {
  // Constants, except for what a lock or an atomic guards; the observer is passed on, never used.
  // The center decides on which threads the callback is called, as Apple's does.
  // A call that was queued before the last reference to the center went finds none, and is dropped.
  private weak var center: CFNotificationCenter?
  let observer: UnsafeRawPointer?
  let name: ExactString?
  let object: ObjectKey?
  private let callback: KeptCallback
  private let isCancelled = Atomic(false)
  private let observation = Locked<NotificationObservation?>(nil)

  init(
    _ center: CFNotificationCenter, observer: UnsafeRawPointer?, name: CFString?,
    object: ObjectKey?, _ callback: @escaping KeptCallback
  ) {
    self.center = center
    self.observer = observer
    self.name = name.map { ExactString($0) }
    self.object = object
    self.callback = callback
  }

  /// Keeps the observation, or ends it if the registration has been removed meanwhile.
  func begin(_ begun: NotificationObservation) {
    observation.withLock { $0 = begun }
    if isCancelled.load(ordering: .sequentiallyConsistent) { endObservation() }
  }

  /// From now on, no call begins where the callback runs.
  func cancel() {
    isCancelled.store(true, ordering: .sequentiallyConsistent)
    endObservation()
  }

  private func endObservation() {
    observation.withLock { observation in
      defer { observation = nil }
      return observation
    }?.cancel()
  }

  func call(_ name: String, object: UnsafeRawPointer? = nil, userInfo: CFDictionary? = nil) {
    guard let center, !isCancelled.load(ordering: .sequentiallyConsistent) else { return }
    callback(
      center, UnsafeMutableRawPointer(mutating: observer), CFNotificationName(name), object,
      userInfo)
  }

  func isFor(name: ExactString?, object: ObjectKey?) -> Bool {
    (name == nil || name == self.name) && (object == nil || object == self.object)
  }
}

/// The registrations of a center, by the addresses of their observers.
final class RegistrationTable: Sendable {
  private let registrations = Locked<[UInt: [Registration]]>([:])

  func add(_ registration: Registration) {
    registrations.withLock {
      $0[UInt(bitPattern: registration.observer), default: []].append(registration)
    }
  }

  func remove(_ registration: Registration) {
    _ = take(of: registration.observer) { $0 === registration }
  }

  /// Takes those of an observer that were added for a name and an object, where `nil` stands for
  /// any.
  func take(
    of observer: UnsafeRawPointer, name: CFNotificationName?, object: ObjectKey?
  ) -> [Registration] {
    let name = name.map { ExactString($0.rawValue) }
    return take(of: observer) { $0.isFor(name: name, object: object) }
  }

  private func take(
    of observer: UnsafeRawPointer?, where isWanted: @Sendable (Registration) -> Bool
  ) -> [Registration] {
    let address = UInt(bitPattern: observer)
    return registrations.withLock { registrations in
      guard let all = registrations.removeValue(forKey: address) else { return [] }
      let kept = all.filter { !isWanted($0) }
      if !kept.isEmpty { registrations[address] = kept }
      return all.filter(isWanted)
    }
  }
}
