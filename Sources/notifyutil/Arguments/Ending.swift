// Ends the program before any command runs.
import DarwinNotify
import Glibc

/// Why there is nothing to run.
enum Ending: Error, Equatable {
  case help
  case version
  /// The command line is empty.
  case usage
  case mistake(String)

  /// Prints the message and ends the program.
  func tell() -> Never {
    switch self {
    case .help:
      Output.complain(Usage.text)
    case .version:
      Output.print("notifyutil \(DarwinNotificationCenter.libraryVersion)")
    case .usage:
      Output.complain(Usage.text)
      ExitStatus.mistake.end()
    case .mistake(let text):
      Output.complain("notifyutil: \(text)")
      Output.complain(Usage.hint)
      ExitStatus.mistake.end()
    }
    ExitStatus.success.end()
  }
}
