// Wrappers of the Darwin notify center with literal callbacks.

#if canImport(CFNotificationCenter)
  import CFNotificationCenter
#else
  import CoreFoundation
#endif
import Foundation

/// The object itself is the observer.
final class SelfObserver {
  private let name: String
  private let handler: () -> Void

  init(_ name: String, handler: @escaping () -> Void) {
    self.name = name
    self.handler = handler
    CFNotificationCenterAddObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque(),
      { (center, observer, name, object, userInfo) in
        guard let observer = observer else { return }
        Unmanaged<SelfObserver>.fromOpaque(observer).takeUnretainedValue().handler()
      }, name as CFString, nil, .deliverImmediately)
  }

  deinit {
    CFNotificationCenterRemoveObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque(),
      CFNotificationName(name as CFString), nil)
  }
}

/// One object for all names, which hands them on to NotificationCenter.
final class Forwarder: @unchecked Sendable {
  static let shared = Forwarder()

  private init() {}

  func forward(_ identifier: String) {
    let center = CFNotificationCenterGetDarwinNotifyCenter()
    let callback: CFNotificationCallback = { _, _, name, _, _ in
      guard let identifier = name?.rawValue as String? else { return }
      NotificationCenter.default.post(
        name: Notification.Name(identifier), object: Forwarder.shared)
    }
    let observer = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    CFNotificationCenterAddObserver(
      center, observer, callback, identifier as CFString, nil,
      CFNotificationSuspensionBehavior.deliverImmediately)
  }

  func stop() {
    CFNotificationCenterRemoveEveryObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque())
  }
}

/// Closures in a retained box.
final class ClosureObserver {
  private final class Box {
    let handler: (String) -> Void
    init(_ handler: @escaping (String) -> Void) { self.handler = handler }
  }

  private let context: UnsafeMutableRawPointer

  init(_ names: [String], handler: @escaping (String) -> Void) {
    context = Unmanaged.passRetained(Box(handler)).toOpaque()
    for name in names {
      CFNotificationCenterAddObserver(
        CFNotificationCenterGetDarwinNotifyCenter(), context,
        { _, observer, name, _, _ in
          guard let observer, let name else { return }
          Unmanaged<Box>.fromOpaque(observer).takeUnretainedValue().handler(name.rawValue as String)
        }, name as CFString, nil, .deliverImmediately)
    }
  }

  func invalidate() {
    CFNotificationCenterRemoveEveryObserver(CFNotificationCenterGetDarwinNotifyCenter(), context)
    Unmanaged<Box>.fromOpaque(context).release()
  }
}

func postDarwin(_ name: String) {
  CFNotificationCenterPostNotification(
    CFNotificationCenterGetDarwinNotifyCenter(), CFNotificationName(name as CFString), nil, nil,
    true)
}
