// Uses logs as a process of its own.
import Foundation
import Wormhole

/// Runs a command, if it is one of these.
func runLogCommand(
  _ command: String, _ arguments: [String], in group: AppGroup
) throws -> Bool {
  switch command {
  case "log-fill":  // NAME: without end
    let mailbox = try LogTransit().openMailbox(for: arguments[0], in: group.directory)
    say("ready")
    while true { _ = try mailbox.append(Letter(.message(payload("x")))) }
  case "log-append":  // NAME COUNT
    let mailbox = try LogTransit().openMailbox(for: arguments[0], in: group.directory)
    for index in 0..<(Int(arguments[1]) ?? 0) {
      _ = try mailbox.append(Letter(.message(payload("\(getpid()) \(index)"))))
    }
  case "log-cursor":  // NAME CURSOR: holds it until it is killed
    let mailbox = try LogTransit().openMailbox(for: arguments[0], in: group.directory)
    let cursor = try mailbox.openCursor(arguments[1])
    try cursor.advance(to: 7)
    say("ready")
    while true { pause() }
  default:
    return false
  }
  return true
}

func say(_ text: String) {
  print(text)
  fflush(nil)
}

private func payload(_ text: String) -> Payload {
  Payload(codec: "raw", type: "String", version: 1, data: Data(text.utf8))
}
