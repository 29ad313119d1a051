// Passes, shows and awaits messages and defaults of a group, for people and scripts.

import DarwinNotify
import Glibc
import Wormhole

let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "-h", "--help":
  Output.line(Arguments.usage)
  exit(0)
case "--version":
  Output.line("wormhole \(DarwinNotificationCenter.libraryVersion)")
  exit(0)
default: break
}

do {
  try Runner(try Arguments(words)).run()
} catch let misuse as Misuse {
  Output.complain(misuse.reason)
  Output.complain("try 'wormhole --help'")
  exit(Status.failed)
} catch {
  Output.complain("\(error)")
  exit(Status.failed)
}
