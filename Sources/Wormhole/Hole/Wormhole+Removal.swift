// Removes the files of a name.

internal import DarwinNotifySupport
internal import FoundationEssentials
internal import Glibc

extension Wormhole {
  /// Removes a name with all its files, of every transit, damaged or not.
  ///
  /// The next message gets the number 1 again, and may use another transit. Cursors are removed,
  /// too. Listeners stay; they get what is passed later. A message that another process passes
  /// meanwhile may be lost.
  ///
  /// - Parameter name: the name.
  /// - Throws: ``WormholeError/system(code:path:)``, ``WormholeError/notification(_:)`` if
  ///   everything is removed but listeners could not be notified;
  ///   ``WormholeError/invalidIdentifier``.
  public func remove<Value>(_ name: MessageName<Value>) throws(WormholeError) {
    let channel = try channel(name)
    forget(name.rawValue)
    let base = FileName(for: name.rawValue).text
    let cursors = cursorFiles(base) + listedCursorFiles(channel, name.rawValue)
    let suffixes = [
      FileSuffix.message, "\(FileSuffix.message).new", FileSuffix.mailbox, FileSuffix.log,
      "\(FileSuffix.log)-wal", "\(FileSuffix.log)-shm",
    ]
    for file in suffixes.map({ base + $0 }) + cursors {
      let path = "\(home.path)/\(file)"
      guard unlink(path) == 0 || errno == ENOENT else { throw .system(code: errno, path: path) }
    }
    try channel.center.notify(channel.changeName)
  }

  /// Returns the lock files of the cursors of a name. Those of long names are not found.
  private func cursorFiles(_ base: String) -> [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: home.path)) ?? []
    return files.filter { $0.hasPrefix("\(base)%00") && $0.hasSuffix(FileSuffix.cursor) }
  }

  /// Returns the lock files of the cursors that the log of a name knows, unless it is damaged.
  private func listedCursorFiles(_ channel: Channel, _ name: String) -> [String] {
    ((try? channel.mailbox.cursors()) ?? []).map { LogCursor.fileName($0.name, of: name) }
  }
}
