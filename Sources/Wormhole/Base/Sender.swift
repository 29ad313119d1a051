// Identifies the process behind a message or a change.

internal import DarwinNotifySupport
internal import Glibc

extension Wormhole {
  /// The process that passed a message or made a change.
  ///
  /// Only processes of the same user can write the files of a group, and they identify themselves:
  /// the numbers are for display, not proof.
  public struct Sender: Hashable, Sendable {
    /// The process identifier, in the pid namespace of the sender. Processes in different
    /// namespaces may have the same one.
    public let pid: Int32

    /// The effective user identifier.
    public let uid: UInt32

    /// The random number that identifies the process; 0 if it is not known.
    public let process: UInt64

    /// Creates a sender, for tests of a listener.
    ///
    /// - Parameters:
    ///   - pid: the process identifier.
    ///   - uid: the user identifier.
    ///   - process: the number of the process.
    public init(pid: Int32, uid: UInt32, process: UInt64 = 0) {
      self.pid = pid
      self.uid = uid
      self.process = process
    }

    /// The calling process. A forked child is a different process.
    public static var current: Self {
      Self(pid: getpid(), uid: geteuid(), process: ProcessNumber.current)
    }

    /// No process, for what cannot be read.
    static let unknown = Self(pid: 0, uid: 0)

    /// Whether it is the calling process.
    var isCurrent: Bool { process != 0 && process == ProcessNumber.current }
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
