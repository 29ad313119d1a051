// Reads what the kernel shows of processes.

import DarwinNotifySupport
import Glibc

/// The files of one process below `/proc`.
struct ProcessFiles {
  let identifier: Int32

  private var folder: String { "/proc/\(identifier)" }

  /// All processes that can be seen.
  static var identifiers: [Int32] { directoryEntries(of: "/proc").compactMap { Int32($0) } }

  /// The content of one of its files; `nil` if it cannot be read.
  func read(_ file: String) -> String? {
    let descriptor = Glibc.open("\(folder)/\(file)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while true {
      let n = Glibc.read(descriptor, &buffer, buffer.count)
      if n < 0, errno == EINTR { continue }
      guard n > 0 else { return n == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer[..<n]
    }
  }

  /// The target of one of its links.
  func link(_ file: String) -> String? {
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("\(folder)/\(file)", &path, path.count)
    return count > 0 ? String(decoding: path[..<count], as: UTF8.self) : nil
  }

  var user: UInt32? {
    var status = stat()
    return stat(folder, &status) == 0 ? status.st_uid : nil
  }

  /// Whether this user may not examine it, although it runs a program: threads of the kernel and
  /// processes that have ended do not.
  var isHidden: Bool {
    guard !(read("cmdline") ?? "").isEmpty else { return false }
    let descriptor = Glibc.open("\(folder)/maps", O_RDONLY | O_CLOEXEC)
    if descriptor >= 0 { close(descriptor) }
    return descriptor < 0 && (errno == EACCES || errno == EPERM)
  }

  /// Whether a signal or a debugger has stopped it.
  var isStopped: Bool { state == "T" || state == "t" }

  /// Whether it has ended, and only waits for its parent to reap it.
  var hasEnded: Bool { state == "Z" || state == "X" }

  private var state: Character? {
    // The state follows the name, which may contain anything.
    guard let text = read("stat"), let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].drop { $0 == " " }.first
  }

  /// Its environment at its start.
  var environment: [String: String]? {
    guard let text = read("environ") else { return nil }
    let pairs = text.split(separator: "\0").compactMap { (pair: Substring) -> (String, String)? in
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return sides.count == 2 ? (String(sides[0]), String(sides[1])) : nil
    }
    return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
  }

  /// The inode numbers of its sockets.
  var sockets: [UInt32] {
    directoryEntries(of: "\(folder)/fd").compactMap { name in
      guard let target = link("fd/\(name)"), target.hasPrefix("socket:[") else { return nil }
      return UInt32(target.dropFirst(8).dropLast())
    }
  }
}

// MARK: Tables

extension ProcessFiles {
  /// The files of tables that it has mapped; `nil` if its memory cannot be examined.
  var mappedTables: [MappedFile]? {
    guard let maps = read("maps") else { return nil }
    var found: [MappedFile] = []
    for line in maps.split(separator: "\n") where line.contains("/darwin-notify") {
      guard let file = MappedFile(line), !found.contains(file) else { continue }
      found.append(file)
    }
    return found
  }

  /// Opens a file that it has mapped, for reading.
  func open(_ file: MappedFile) -> CInt {
    // The second way is for root; it leads to files that were removed.
    let descriptor = Glibc.open("\(folder)/root\(file.path)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    return descriptor >= 0
      ? descriptor : Glibc.open("\(folder)/map_files/\(file.range)", O_RDONLY | O_CLOEXEC)
  }
}

/// A line of the map of a process's memory.
struct MappedFile: Equatable {
  let path: String
  let range: String
  let identity: FileIdentity

  static func == (left: Self, right: Self) -> Bool { left.identity == right.identity }

  /// A table, whose path is `…/darwin-notify…/table` with its version and the hash of its bus.
  init?(_ line: Substring) {
    let words = line.split(separator: " ", maxSplits: 5)
    guard words.count == 6, let number = UInt64(words[4]) else { return nil }
    let device = words[3].split(separator: ":").compactMap { UInt64($0, radix: 16) }
    guard device.count == 2 else { return nil }
    let text = words[5].drop { $0 == " " }
    let gone = " (deleted)"
    path = String(text.hasSuffix(gone) ? text.dropLast(gone.count) : text)
    range = String(words[0])
    identity = FileIdentity(device: device[0] << 32 | device[1], number: number)
    guard path.contains(#/\/darwin-notify[^\/]*\/table[0-9]+-[0-9a-f]{16}$/#) else { return nil }
  }
}

extension FileIdentity {
  /// The file behind a descriptor.
  init?(descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    let device = UInt64(status.st_dev)
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000
    let minor = device & 0xff | device >> 12 & 0xffff_ff00
    self.init(device: major << 32 | minor, number: UInt64(status.st_ino))
  }
}
