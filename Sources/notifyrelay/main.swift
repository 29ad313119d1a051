// Runs the command line.
import DarwinNotify
import Glibc

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
