// Finds the message files of a directory.

internal import Glibc

extension MessageFile {
  /// Returns the names of the messages in a directory.
  ///
  /// Foreign files do not count, whatever they are called. A damaged message counts, under the name
  /// that its file name stands for.
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
    guard file.hasSuffix(FileSuffix.message) else { return nil }
    let fileName = FileName(text: String(file.dropLast(FileSuffix.message.count)))
    do throws(WormholeError) {
      let header = try MessageFile(path: "\(directory)/\(file)").readHeader()
      // A copy under another file name is not the message.
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
