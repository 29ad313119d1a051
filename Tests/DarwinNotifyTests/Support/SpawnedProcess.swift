// Starts programs.
import Glibc
import Synchronization
import TestSupport
import Testing

/// A process with its standard output and error in pipes.
///
/// Unlike Foundation's `Process`, it passes no descriptors to other children that start at the same
/// time, which would hide its end, nor the signals that its thread blocks.
struct SpawnedProcess: Sendable {
  let identifier: pid_t
  let output: CInt
  let errors: CInt

  init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
    let (output, errors) = (try Pipe(), try Pipe())
    defer { [output, errors].forEach { close($0.writeEnd) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output.writeEnd, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    var identifier: pid_t = 0
    let arguments = CStrings([program] + arguments)
    let variables = CStrings(environment.map { "\($0)=\($1)" })
    let result = posix_spawn(
      &identifier, program, &actions, &attributes, arguments.pointers, variables.pointers)
    try #require(result == 0)
    (self.identifier, self.output, self.errors) = (identifier, output.readEnd, errors.readEnd)
  }

  /// Waits until it ends. The process keeps its number until it is reaped.
  func wait() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
  }

  /// Whether a signal has stopped it, and it has not continued.
  var isStopped: Bool {
    var information = siginfo_t()
    return waitid(P_PID, id_t(identifier), &information, WSTOPPED | WNOWAIT | WNOHANG) == 0
      && information.si_signo == SIGCHLD
  }

  /// The exit status of a process that has ended, or the number of the signal that ended it.
  func reap() -> Int32 {
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : status & 0x7f
  }

  /// Reads a pipe to its end.
  static func readAll(from descriptor: CInt, _ body: ([UInt8]) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let n = read(descriptor, &buffer, buffer.count)
      if n < 0, errno == EINTR { continue }
      guard n > 0 else { break }
      body(Array(buffer[..<n]))
    }
    close(descriptor)
  }
}

/// A pipe that other children never get. It starts as a file, since Swift has no `pipe2`.
private struct Pipe {
  let readEnd: CInt
  let writeEnd: CInt

  private static let made = Atomic<Int>(0)

  init() throws {
    let number = Self.made.add(1, ordering: .relaxed).newValue
    let path = String(cString: try #require(test_directory())) + "/pipe-\(number)"
    try #require(mkfifo(path, 0o600) == 0)
    readEnd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    writeEnd = open(path, O_WRONLY | O_CLOEXEC)
    unlink(path)
    try #require(readEnd >= 0 && writeEnd >= 0 && fcntl(readEnd, F_SETFL, O_RDONLY) == 0)
  }
}

/// A list of strings for C, terminated by NULL.
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ strings: [String]) {
    count = strings.count
    pointers = .allocate(capacity: count + 1)
    pointers.initialize(repeating: nil, count: count + 1)
    for (index, string) in strings.enumerated() { pointers[index] = strdup(string) }
  }

  deinit {
    for index in 0..<count { free(pointers[index]) }
    pointers.deallocate()
  }
}
