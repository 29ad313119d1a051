// Finds out who has locked a database.

internal import FoundationEssentials
internal import Glibc

/// The process that is writing a database.
enum LockHolder {
  /// The byte of the file `-shm` that a writer locks.
  private static let writeByte = 120

  /// Describes the process that is writing, `nil` if there is none, or none that can be seen.
  static func describe(of path: String) -> String? {
    var status = stat()
    guard stat("\(path)-shm", &status) == 0,
      let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
    else { return nil }
    let inode = ":\(status.st_ino)"
    for line in locks.split(separator: "\n") {
      let fields = line.split(separator: " ")
      // 1: POSIX ADVISORY WRITE 4711 fd:00:131 120 120
      guard fields.count == 8, fields[3] == "WRITE", fields[5].hasSuffix(inode),
        let pid = pid_t(fields[4]), pid > 0, let first = Int(fields[6]), let last = Int(fields[7]),
        first <= writeByte, last >= writeByte
      else { continue }
      return describe(pid)
    }
    return nil
  }

  private static func describe(_ pid: pid_t) -> String {
    let stat = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    // 4711 (python3) T 1 …, and the name may have parentheses of its own.
    guard let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")") else {
      return "process \(pid)"
    }
    let name = stat[stat.index(after: start)..<end]
    let isStopped = stat[stat.index(after: end)...].hasPrefix(" T")
    return "\(name) (process \(pid)\(isStopped ? ", which is stopped" : ""))"
  }
}
