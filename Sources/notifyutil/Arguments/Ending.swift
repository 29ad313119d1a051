// Ends the run before any command.
import DarwinNotify
import Glibc

/// Why there is nothing to run.
enum Ending: Error, Equatable {
  case help
  case version
  /// The line is empty.
  case usage
  case mistake(String)

  /// Prints what there is to say, and ends the program.
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
