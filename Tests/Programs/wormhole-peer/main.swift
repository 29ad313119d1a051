// Uses a group from its own process.
import DarwinNotify
import Foundation
import Wormhole

/// wormhole-peer PARENT KEEP COMMAND NAME [ARGUMENT]...
let words = CommandLine.arguments
guard words.count >= 5, let command = commands[words[3]] else {
  say("no such command")
  exit(64)
}

do {
  let role = try Role(parent: words[1], keep: words[2], name: words[4])
  try command(role, Array(words.dropFirst(5)))
} catch {
  say("failed: \(error)")
  exit(1)
}
