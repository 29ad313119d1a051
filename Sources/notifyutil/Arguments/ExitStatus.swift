// The exit statuses of the tool.
import Glibc

/// How the program ends.
enum ExitStatus: CInt {
  case success = 0
  /// The command line is wrong and nothing was run, or the output cannot be written.
  case mistake = 1
  /// A command failed, or one run by `--exec`.
  case failure = 2
  /// There is no bus.
  case noBus = 3
  /// `--timeout` expired; the same status as timeout(1).
  case timeout = 124

  func end() -> Never {
    exit(rawValue)
  }
}
