// Finds out which program a process runs.
import Glibc

enum ProgramName {
  /// The file name of its executable; if that is not readable, the name the process gives itself;
  /// `nil` if the process has ended.
  static func of(_ pid: Int32) -> String? {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(pid)/exe", &path, path.count)
    guard count > 0 else { return command(of: pid) }
    let text = String(decoding: path[..<count], as: UTF8.self)
    return text.split(separator: "/").last.map(String.init)
  }

  private static func command(of pid: Int32) -> String? {
    let descriptor = open("/proc/\(pid)/comm", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    guard count > 1 else { return nil }
    return String(decoding: bytes[..<(count - 1)], as: UTF8.self)
  }
}
