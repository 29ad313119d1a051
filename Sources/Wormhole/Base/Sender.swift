// Identifies the process behind a message or a change.

internal import DarwinNotifySupport
internal import Glibc

extension Sender {
  /// Creates the sender that a process has named in a file of the group.
  ///
  /// - Parameters:
  ///   - pid: the process identifier in its PID namespace, 0 if not known.
  ///   - number: the random number that distinguishes processes, 0 if not known.
  ///   - program: the name of the program.
  ///   - machine: the machine, if it is not this one.
  init(pid: Int32, number: UInt64, program: String?, machine: String? = nil) {
    self.init(
      isOwn: machine == nil && number == ProcessNumber.current, process: pid > 0 ? pid : nil,
      program: program, machine: machine)
  }
}

/// The random number of this process, never 0.
enum ProcessNumber {
  private static let drawn = Locked<(pid: pid_t, number: UInt64)>((0, 0))

  /// Drawn at the first use, and again in a forked child.
  static var current: UInt64 {
    let pid = getpid()
    return drawn.withLock { drawn in
      if drawn.pid != pid { drawn = (pid, .random(in: 1...UInt64.max)) }
      return drawn.number
    }
  }
}
