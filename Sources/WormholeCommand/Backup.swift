// Copies the stores and databases of a group.

import DarwinNotifySupport
import FoundationEssentials
import Glibc
import Wormhole

extension AppGroup {
  /// Copies each store and database of the group to the same place below another directory. They
  /// may be in use: each copy is one state of its file.
  ///
  /// - Parameter directory: the directory, which is created if missing. None of the files may
  ///   exist.
  /// - Throws: ``WormholeError``. Some files may have been copied.
  func backUp(to directory: String) throws(WormholeError) {
    _ = try PrivateDirectory(directory)
    let group = self.directory.path
    for path in Self.files(in: group) {
      let (source, copy) = ("\(group)/\(path)", "\(directory)/\(path)")
      if let slash = path.lastIndex(of: "/") {
        _ = try PrivateDirectory("\(directory)/\(path[..<slash])")
      }
      guard access(copy, F_OK) != 0 else { throw .system(code: EEXIST, path: copy) }
      do throws(WormholeError) {
        let quoted = copy.replacing("'", with: "''")
        try SQLiteConnection(opening: source).executeInAnyCase("VACUUM INTO '\(quoted)'")
      } catch .foreign {
        unlink(copy)
      }
    }
  }

  /// The files of a group and of its directories that may be databases, in the order of their
  /// names.
  private static func files(in directory: String, below prefix: String = "") -> [String] {
    var files: [String] = []
    for name in directoryEntries(of: directory).sorted() {
      var status = stat()
      guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR where prefix.isEmpty:
        files += Self.files(in: "\(directory)/\(name)", below: "\(name)/")
      case S_IFREG where !["-wal", "-shm", "-journal", "-cursors"].contains(where: name.hasSuffix):
        files.append(prefix + name)
      default: break
      }
    }
    return files
  }
}
