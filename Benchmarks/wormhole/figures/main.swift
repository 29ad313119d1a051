// Measures what messages cost, in turns with the same done by hand.
//
//     wormhole-figures            everything: some minutes
//     wormhole-figures --smoke    everything once, quickly
//     wormhole-figures --json     for programs: an object a line for each table
//
// The bus is a private one of the kind that DN_TEST_BROKER says: daemon (the default) or broker.
// The files are below the directory that DN_TEST_DIRECTORY says, by default /tmp. A figure that
// misses its target is printed as such, and that is all.

import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--role" {
  try Role.run(Array(arguments.dropFirst()))
} else if arguments.allSatisfy(["--smoke", "--json"].contains) {
  try Figures(
    arguments.contains("--smoke") ? .smoke : .thorough,
    on: arguments.contains("--json") ? .json : .text
  ).run()
} else {
  print("usage: wormhole-figures [--smoke] [--json]")
  exit(64)
}
