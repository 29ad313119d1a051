// Starts programs.
import Synchronization
import TestSupport

/// A process with its standard output and error in pipes.
///
/// Unlike a `Process` of Foundation, it ends with this one, and passes no descriptors to other
/// children that start at the same time, which would hide its end, nor the signals that its thread
/// blocks.
struct SpawnedProcess: Sendable {
  let identifier: pid_t
  let output: CInt
  let errors: CInt

  init(_ program: String, _ arguments: [String], environment: [String: String]) throws {
    let (output, errors) = (try Pipe(), try Pipe())
    defer { [output, errors].forEach { close($0.writeEnd) } }
    let arguments = CStrings([program] + arguments)
    let variables = CStrings(environment.map { "\($0)=\($1)" })
    var plan = test_spawn_plan()
    (plan.argv, plan.environment) = (arguments.pointers, variables.pointers)
    (plan.fds, plan.n_fds) = ((-1, output.writeEnd, errors.writeEnd, -1), 3)
    identifier = withExtendedLifetime((arguments, variables)) { test_spawn(&plan) }
    (self.output, self.errors) = (output.readEnd, errors.readEnd)
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
  let pointers: UnsafePointer<UnsafePointer<CChar>?>
  private let strings: [UnsafeMutablePointer<CChar>?]

  init(_ strings: [String]) {
    self.strings = strings.map { strdup($0) }
    let pointers = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: strings.count + 1)
    for (index, string) in (self.strings + [nil]).enumerated() {
      (pointers + index).initialize(to: UnsafePointer(string))
    }
    self.pointers = UnsafePointer(pointers)
  }

  deinit {
    strings.forEach { free($0) }
    pointers.deallocate()
  }
}
