import CFNotificationCenter  // On iOS: import CoreFoundation
import Foundation

/// Tells the app that its extension has changed something.
final class ExtensionObserver {
  private let changed: (String) -> Void

  init(names: [String], changed: @escaping (String) -> Void) {
    self.changed = changed
    for name in names {
      CFNotificationCenterAddObserver(
        CFNotificationCenterGetDarwinNotifyCenter(),
        Unmanaged.passUnretained(self).toOpaque(),
        { _, observer, name, _, _ in
          guard let observer = observer, let name = name else { return }
          let this = Unmanaged<ExtensionObserver>.fromOpaque(observer).takeUnretainedValue()
          this.changed(name.rawValue as String)
        },
        name as CFString,
        nil,
        .deliverImmediately)
    }
  }

  deinit {
    CFNotificationCenterRemoveEveryObserver(
      CFNotificationCenterGetDarwinNotifyCenter(),
      Unmanaged.passUnretained(self).toOpaque())
  }
}
