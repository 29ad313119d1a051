// Ends the run before any command.
import DarwinNotify
import Glibc

/// Why there is nothing to run.
enum Ending: Error, Equatable {
  case help
  case version
  case mistake([String], showsUsage: Bool)

  var status: CInt {
    if case .mistake = self { EXIT_FAILURE } else { EXIT_SUCCESS }
  }

  /// Prints what there is to say.
  func tell() {
    switch self {
    case .help: Output.complain(Usage.text)
    case .version: Output.print("notifyutil \(DarwinNotificationCenter.libraryVersion)")
    case .mistake(let lines, let showsUsage):
      for line in lines { Output.complain(line) }
      if showsUsage { Output.complain(Usage.text) }
    }
  }
}
