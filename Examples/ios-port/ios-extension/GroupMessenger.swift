import CFNotificationCenter  // On iOS: import CoreFoundation
import Foundation

/// Passes messages to the app: each is a file in the folder of the group, and a Darwin notification
/// says that it is there.
final class GroupMessenger {
  private let group: String
  private let folder: URL

  init(group: String, folder: URL) {
    self.group = group
    self.folder = folder
  }

  func passMessage(_ message: String, identifier: String) throws {
    let file = folder.appendingPathComponent(identifier)
    try message.write(to: file, atomically: true, encoding: .utf8)
    notify(identifier)
  }

  func notify(_ identifier: String) {
    CFNotificationCenterPostNotification(
      CFNotificationCenterGetDarwinNotifyCenter(),
      CFNotificationName("\(group).\(identifier)" as CFString),
      nil,
      nil,
      true)
  }
}
