// Removes the directories of temporary groups.

internal import DarwinNotifySupport
internal import FoundationEssentials
internal import Glibc

/// A path whose directory is removed with this value, or when the process exits: global variables
/// of the main file are never released.
final class TemporaryDirectory: Sendable {
  let path: String

  private static let paths = Locked<Set<String>>([])
  private static let process = getpid()

  /// Registered before anything that uses the directory, so it runs after their exit handlers.
  private static let isRegistered: Bool =
    atexit {
      // A forked child has the paths of its parent.
      guard getpid() == TemporaryDirectory.process else { return }
      for path in TemporaryDirectory.paths.withLock({ $0 }) { TemporaryDirectory.remove(path) }
    } == 0

  /// Chooses a path. The code that uses it creates the directory.
  init() {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("wormhole-\(UUID().uuidString)").path
    _ = (Self.process, Self.isRegistered)
    Self.paths.withLock { [path] in _ = $0.insert(path) }
  }

  deinit {
    Self.remove(path)
    Self.paths.withLock { [path] in _ = $0.remove(path) }
  }

  private static func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
  }
}
