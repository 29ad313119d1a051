// Accesses small files of the user.

import Glibc

/// Why the program ends, in a sentence.
struct Mistake: Error, Equatable, CustomStringConvertible {
  let description: String

  /// The exit status: 1 if the user has to correct something, 2 if trying again may help, 3 if
  /// another relay has this origin.
  let status: CInt

  init(_ description: String, status: CInt = 1) {
    (self.description, self.status) = (description, status)
  }

  /// A call of the system has failed: what cannot be done, and `errno`.
  static func system(_ text: String) -> Self {
    Self("\(text): \(String(cString: strerror(errno)))", status: 2)
  }
}

enum File {
  /// Where the relay keeps its state: `$XDG_STATE_HOME/notifyrelay`, mode 0700.
  static func stateDirectory() throws(Mistake) -> String {
    let home = variable("HOME") ?? "/nonexistent"
    let parent = variable("XDG_STATE_HOME") ?? "\(home)/.local/state"
    let directory = "\(parent)/notifyrelay"
    for (index, byte) in directory.utf8.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
      mkdir(String(decoding: directory.utf8.prefix(index), as: UTF8.self), 0o700)
    }
    var status = stat()
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST, lstat(directory, &status) == 0 else {
      throw Mistake.system("\(directory) cannot be created")
    }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o22 == 0
    else {
      throw Mistake("\(directory) must be a directory that only you can write")
    }
    // The home directory may be a symbolic link, which SQLite would refuse.
    guard let real = realpath(directory, nil) else {
      throw Mistake.system("\(directory) cannot be used")
    }
    defer { free(real) }
    return String(cString: real)
  }

  /// Where the socket of a running relay is.
  static var socketPath: String {
    get throws(Mistake) {
      if let runtime = variable("XDG_RUNTIME_DIR") { return "\(runtime)/notifyrelay" }
      return try "\(stateDirectory())/socket"
    }
  }

  static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads a file that the user has written.
  static func readText(_ path: String) throws(Mistake) -> String {
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw Mistake("\(path) is not a file")
    }
    guard let text = read(path) else {
      throw Mistake("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard !text.utf8.contains(0) else { throw Mistake("\(path) contains a NUL: it is not a text") }
    return text
  }

  /// Reads a whole file. Returns `nil` and sets `errno` if that is not possible.
  static func read(_ path: String) -> String? {
    // If it has become a pipe meanwhile, there need not be a writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let n = Glibc.read(descriptor, &buffer, buffer.count)
      if n < 0 { return nil }
      if n == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<n]
    }
  }

  /// Writes a whole file that only the user can read, in one step.
  static func write(_ text: String, to path: String) -> Bool {
    let new = path + ".new"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
      && fsync(descriptor) == 0 && rename(new, path) == 0
  }

  /// Why a file of secrets must not be used; `nil` if it may be.
  static func fault(ofSecret path: String) -> Mistake? {
    var status = stat()
    guard stat(path, &status) == 0 else {
      return Mistake("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o077 == 0 else {
      return Mistake("\(path) can be read by others: run chmod 600 on it")
    }
    return access(path, R_OK) == 0 ? nil : Mistake("\(path) cannot be read")
  }

  /// Takes a lock that ends with the process. Returns `false` if somebody else has it.
  static func lock(_ path: String) throws(Mistake) -> Bool {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    guard errno == EWOULDBLOCK else { throw Mistake.system("\(path) cannot be locked") }
    return false
  }
}
