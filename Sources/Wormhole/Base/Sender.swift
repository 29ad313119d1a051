// Identifies the process behind a message or a change.

internal import DarwinNotifySupport
internal import Glibc

extension Wormhole {
  /// The process that passed a message or made a change.
  ///
  /// Only processes of the same user can write the files of a group, and they identify themselves:
  /// all of this is for display, not proof.
  public struct Sender: Hashable, Sendable {
    /// The process identifier in the sender's pid namespace, or 0 if unknown. Processes in
    /// different namespaces may have the same one.
    public let pid: Int32

    /// The random number that identifies the process; 0 if it is not known.
    public let process: UInt64

    /// The name of the program, if known.
    public let program: String?

    /// The machine, if a relay brought the message from another one.
    public let machine: String?

    /// Creates a sender, for tests of a listener.
    ///
    /// - Parameters:
    ///   - pid: the process identifier.
    ///   - process: the number of the process.
    ///   - program: the name of the program.
    ///   - machine: the machine.
    public init(
      pid: Int32, process: UInt64 = 0, program: String? = nil, machine: String? = nil
    ) {
      (self.pid, self.process, self.program, self.machine) = (pid, process, program, machine)
    }

    /// The calling process. A forked child is a different process.
    public static var current: Self {
      Self(pid: getpid(), process: ProcessNumber.current, program: ProgramName.current)
    }
  }
}

/// The number of this process.
private enum ProcessNumber {
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

/// The name of this program.
enum ProgramName {
  static let current: String = {
    let path = CommandLine.arguments.first ?? ""
    return String(path.split(separator: "/").last ?? "").clipped(to: 255)
  }()
}

extension String {
  /// As many characters as fit into a number of bytes.
  fileprivate func clipped(to count: Int) -> String {
    var text = self
    while text.utf8.count > count { text.removeLast() }
    return text
  }
}
