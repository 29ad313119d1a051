// Finds the directories of the user.

internal import Glibc

/// The places that the XDG Base Directory Specification has for the files of a user.
enum UserDirectories {
  /// The directory for data that stays. A relative path in the environment is ignored.
  static var data: String {
    absolute("XDG_DATA_HOME") ?? "\(home)/.local/share"
  }

  /// Returns the directory for files that end with the session; makes it if it is our own.
  static func makeRuntime() throws(WormholeError) -> String {
    if let directory = absolute("XDG_RUNTIME_DIR") { return directory }
    return try PrivateDirectory("/dev/shm/wormhole-\(geteuid())").path
  }

  private static var home: String {
    absolute("HOME") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_dir) } ?? "/"
  }

  private static func absolute(_ variable: String) -> String? {
    guard let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") else {
      return nil
    }
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}
