// Finds the message files of a directory.

internal import Foundation

extension MessageFile {
  /// Returns the names of the messages whose files stand in a directory.
  ///
  /// A file that is not a message of ours does not count, even if it is called so. One that is but
  /// can no longer be read counts, under the name that its file name stands for.
  static func names(in directory: String) throws(WormholeError) -> [String] {
    guard let stream = opendir(directory) else {
      guard errno == ENOENT else { throw .system(code: errno, path: directory) }
      return []
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let file = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let name = try name(of: file, in: directory) { names.append(name) }
    }
    return names
  }

  private static func name(
    of file: String, in directory: String
  ) throws(WormholeError) -> String? {
    guard file.hasSuffix(FileMailbox.messageSuffix) else { return nil }
    let fileName = FileName(text: String(file.dropLast(FileMailbox.messageSuffix.count)))
    do throws(WormholeError) {
      let header = try MessageFile(path: "\(directory)/\(file)").readHeader()
      // A copy under another name is not where the message is.
      return header.flatMap { FileName(for: $0.name) == fileName ? $0.name : nil }
    } catch {
      switch error {
      case .system: throw error
      case .damaged: return fileName.original
      default: return nil
      }
    }
  }
}
