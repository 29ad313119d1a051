// Ends the run before any command.
import DarwinNotify
import Glibc

/// Why there is nothing to run.
enum Ending: Error, Equatable {
  case help(notes: [String])
  case version(notes: [String])
  case mistake([String], showsUsage: Bool)

  var status: CInt {
    if case .mistake = self { EXIT_FAILURE } else { EXIT_SUCCESS }
  }

  /// Prints what there is to say.
  func tell() {
    switch self {
    case .help(let notes):
      notes.forEach(Output.complain)
      Output.complain(Usage.text)
    case .version(let notes):
      notes.forEach(Output.complain)
      Output.print("notifyutil \(DarwinNotificationCenter.libraryVersion)")
    case .mistake(let lines, let showsUsage):
      lines.forEach(Output.complain)
      if showsUsage { Output.complain(Usage.text) }
    }
  }
}
