// Measures what messages cost, in turns with the same done by hand.
//
//     wormhole-figures            everything: some minutes
//     wormhole-figures --smoke    everything once, quickly
//
// The bus is a private one of the kind that DN_TEST_BROKER says: daemon (the default) or broker.
// The files are below the directory that DN_TEST_DIRECTORY says, by default /tmp. A figure that
// misses its target is printed as such, and that is all.

import Glibc

switch Array(CommandLine.arguments.dropFirst()) {
case let arguments where arguments.first == "--role":
  try Role.run(Array(arguments.dropFirst()))
case []:
  try Figures(.thorough).print()
case ["--smoke"]:
  try Figures(.smoke).print()
default:
  print("usage: wormhole-figures [--smoke]")
  exit(64)
}
