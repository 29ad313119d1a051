// Apple's functions.
// The names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import DarwinNotify

/// Adds an observer. When it returns, a post by any process reaches the callback.
///
/// Observers are neither retained nor looked at, and each call adds one more registration.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - observer: is passed to the callback, and identifies the registration for removal. A
///     registration without one stays for good.
///   - callBack: the function to call: on the main queue, or for the local center on the thread of
///     the poster.
///   - name: the name to listen for; `nil` for every name, which the Darwin center refuses.
///   - object: only posts with this object; `nil` for all. The Darwin center ignores it.
///   - suspensionBehavior: what happens while the observers of the process are suspended.
///
/// The corresponding C function is `dn_center_add_observer`.
public func CFNotificationCenterAddObserver(
  _ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!,
  _ callBack: (
    (
      CFNotificationCenter?, UnsafeMutableRawPointer?, CFNotificationName?, UnsafeRawPointer?,
      CFDictionary?
    ) -> Void
  )!, _ name: CFString!, _ object: UnsafeRawPointer!,
  _ suspensionBehavior: CFNotificationSuspensionBehavior
) {
  // Not a `CFNotificationCallback`, which is sendable: a literal in a class on the main actor may
  // call the main actor, as it may on Apple's systems.
  guard let center else { return }
  CFNotificationCenter.report("CFNotificationCenterAddObserver", name) {
    guard let callBack else { throw MissingArgument.callback }
    let registration = Registration(
      center, observer: observer, name: name, object: center.kind.key(of: object), callBack)
    // A callback that is called before this returns may remove its observer.
    center.registrations.add(registration)
    do {
      registration.begin(
        try center.kind.observe(registration, object: object, behavior: suspensionBehavior))
    } catch {
      center.registrations.remove(registration)
      throw error
    }
  }
}

/// Removes the registrations of an observer that were added for a name and an object. Where their
/// callbacks run, no call of them follows.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - observer: as it was added; `nil` removes nothing and is reported to
///     ``CFNotificationCenter/onError``.
///   - name: only registrations for this name; `nil` for all.
///   - object: only registrations with this object; `nil` for all. The Darwin center ignores it.
///
/// The corresponding C function is `dn_center_remove_observer`.
public func CFNotificationCenterRemoveObserver(
  _ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!, _ name: CFNotificationName!,
  _ object: UnsafeRawPointer!
) {
  remove("CFNotificationCenterRemoveObserver", center, observer, name, object)
}

/// Removes all registrations of an observer. Where their callbacks run, no call of them follows.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - observer: as it was added; `nil` removes nothing and is reported to
///     ``CFNotificationCenter/onError``.
///
/// The corresponding C function is `dn_center_remove_every_observer`.
public func CFNotificationCenterRemoveEveryObserver(
  _ center: CFNotificationCenter!, _ observer: UnsafeRawPointer!
) {
  remove("CFNotificationCenterRemoveEveryObserver", center, observer, nil, nil)
}

private func remove(
  _ function: String, _ center: CFNotificationCenter?, _ observer: UnsafeRawPointer?,
  _ name: CFNotificationName?, _ object: UnsafeRawPointer?
) {
  guard let center else { return }
  CFNotificationCenter.report(function, name?.rawValue) {
    guard let observer else { throw MissingArgument.observer }
    let key = center.kind.key(of: object)
    for registration in center.registrations.take(of: observer, name: name, object: key) {
      registration.cancel()
    }
  }
}

/// Posts a notification.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - name: the name to post.
///   - object: what observers may ask for. Without one, only observers that ask for none get
///     the post. The Darwin center ignores it.
///   - userInfo: what the notification carries. The Darwin center ignores it.
///   - deliverImmediately: whether observers that are suspended get it as well.
///
/// The corresponding C function is `dn_center_post`.
public func CFNotificationCenterPostNotification(
  _ center: CFNotificationCenter!, _ name: CFNotificationName!, _ object: UnsafeRawPointer!,
  _ userInfo: CFDictionary!, _ deliverImmediately: Bool
) {
  post(
    "CFNotificationCenterPostNotification", center, name, object, userInfo,
    deliverImmediately ? kCFNotificationDeliverImmediately : 0)
}

/// Posts a notification with options.
///
/// - Parameters:
///   - center: the center; `nil` does nothing.
///   - name: the name to post.
///   - object: what observers may ask for. Without one, only observers that ask for none get
///     the post. The Darwin center ignores it.
///   - userInfo: what the notification carries. The Darwin center ignores it.
///   - options: ``kCFNotificationDeliverImmediately`` and ``kCFNotificationPostToAllSessions``;
///     other bits are ignored.
///
/// The corresponding C function is `dn_center_post`.
public func CFNotificationCenterPostNotificationWithOptions(
  _ center: CFNotificationCenter!, _ name: CFNotificationName!, _ object: UnsafeRawPointer!,
  _ userInfo: CFDictionary!, _ options: CFOptionFlags
) {
  post(
    "CFNotificationCenterPostNotificationWithOptions", center, name, object, userInfo, options)
}

private func post(
  _ function: String, _ center: CFNotificationCenter?, _ name: CFNotificationName?,
  _ object: UnsafeRawPointer?, _ userInfo: CFDictionary?, _ options: CFOptionFlags
) {
  guard let center else { return }
  CFNotificationCenter.report(function, name?.rawValue) {
    guard let name else { throw MissingArgument.name }
    try center.kind.post(name.rawValue, object: object, userInfo: userInfo, options: options)
  }
}
