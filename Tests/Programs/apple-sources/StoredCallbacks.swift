// Wrappers of the Darwin notify center that keep their callbacks.

#if canImport(CFNotificationCenter)
  import CFNotificationCenter
#else
  import CoreFoundation
#endif
import Foundation

private let global: CFNotificationCallback = { _, observer, _, _, _ in
  StoredCallbacks.hear("global", observer)
}

/// A callback of the type, of the file, and a function.
final class StoredCallbacks {
  private static let stored: CFNotificationCallback = { _, observer, _, _, _ in
    hear("stored", observer)
  }

  private let handler: (String) -> Void

  init(_ name: String, handler: @escaping (String) -> Void) {
    self.handler = handler
    for callback in [Self.stored, global, called] { add(name, callback) }
  }

  private func add(_ name: String, _ callback: @escaping CFNotificationCallback) {
    CFNotificationCenterAddObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque(),
      callback, name as CFString, nil, .deliverImmediately)
  }

  fileprivate static func hear(_ text: String, _ observer: UnsafeMutableRawPointer?) {
    guard let observer else { return }
    Unmanaged<StoredCallbacks>.fromOpaque(observer).takeUnretainedValue().handler(text)
  }

  deinit {
    CFNotificationCenterRemoveEveryObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque())
  }
}

private func called(
  center: CFNotificationCenter?, observer: UnsafeMutableRawPointer?, name: CFNotificationName?,
  object: UnsafeRawPointer?, userInfo: CFDictionary?
) {
  StoredCallbacks.hear("called", observer)
}
