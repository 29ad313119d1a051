// Finds out who has locked a database.

internal import Glibc

/// The process that is writing a database.
enum LockHolder {
  /// The byte of the file `-shm` that a writer locks.
  private static let writeByte = 120

  /// Describes the process that is writing, `nil` if there is none, or it cannot be seen.
  static func describe(of path: String) -> String? {
    var status = stat()
    guard stat("\(path)-shm", &status) == 0 else { return nil }
    let inode = ":\(status.st_ino)"
    for line in lines(ofProcFile: "/proc/locks") {
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

  /// Returns the lines of a file of procfs, none if it cannot be read. Such a file is read a page
  /// at a time, and Foundation stops after the first one.
  private static func lines(ofProcFile path: String) -> [String] {
    guard let file = fopen(path, "re") else { return [] }
    var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    defer {
      free(line)
      fclose(file)
    }
    var lines: [String] = []
    while getline(&line, &capacity, file) > 0 {
      if let line { lines += String(cString: line).split(separator: "\n").map(String.init) }
    }
    return lines
  }

  /// Describes a process, by its number alone if it has ended.
  static func describe(_ pid: pid_t) -> String {
    let stat = lines(ofProcFile: "/proc/\(pid)/stat").first ?? ""
    // 4711 (python3) T 1 …, and the name may have parentheses of its own.
    guard let start = stat.firstIndex(of: "("), let end = stat.lastIndex(of: ")") else {
      return "process \(pid)"
    }
    let name = stat[stat.index(after: start)..<end]
    let isStopped = stat[stat.index(after: end)...].hasPrefix(" T")
    return "\(name) (process \(pid)\(isStopped ? ", which is stopped" : ""))"
  }
}
