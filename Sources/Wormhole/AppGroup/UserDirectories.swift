// Finds the directories of the user.

internal import Foundation

/// Where the XDG Base Directory Specification puts the files of a user.
enum UserDirectories {
  /// The directory for data that stays. A path that is not absolute counts as none.
  static var data: String {
    absolute("XDG_DATA_HOME") ?? "\(home)/.local/share"
  }

  /// The directory for what ends with the session, which is made if it is one of our own.
  static func makeRuntime() throws(WormholeError) -> String {
    if let directory = absolute("XDG_RUNTIME_DIR") { return directory }
    return try PrivateDirectory("/dev/shm/wormhole-\(geteuid())").path
  }

  private static var home: String {
    absolute("HOME") ?? NSHomeDirectory()
  }

  private static func absolute(_ variable: String) -> String? {
    guard let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") else {
      return nil
    }
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
