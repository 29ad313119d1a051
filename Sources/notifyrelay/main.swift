// Runs the command line.
import DarwinNotify
import Glibc

/// Writes a line to standard error, where the journal reads it. A text from another machine does
/// not end the line.
func say(_ text: String) {
  let line = "notifyrelay: \(String(text.map { $0.isNewline ? " " : $0 }))\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
}

func end(_ mistake: Mistake) -> Never {
  say(mistake.description)
  exit(mistake.status)
}

do throws(Mistake) {
  let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
  switch arguments.action {
  case .run: try Relay(try arguments.realms()).run()
  case .check:
    for realm in try arguments.realms() { print("realm \(realm.name): the settings are correct") }
  case .status(let format): try StatusSocket.ask(format)
  case .origin: print(try Origin(in: try File.stateDirectory()))
  case .version: print("notifyrelay \(DarwinNotificationCenter.libraryVersion)")
  case .help: print(Arguments.usage)
  }
} catch {
  end(error)
}
