// Makes a peer listen.
import DarwinNotify
import Foundation
import Wormhole

/// REPLAY COUNT [LAST]: prints messages until there are COUNT, including missed ones; 0 stands for
/// no end. It kills itself while it handles the message with the number LAST.
///
/// A line is: number, content, missed, process, program.
@Sendable func listen(_ role: Role, _ words: [String]) throws {
  let replay = replay(words[0])
  let count = number(words[1])
  let last = words.count > 2 ? UInt64(words[2]) : nil
  let seen = Locked(0)
  let isDone = DispatchSemaphore(value: 0)
  let observation = try role.hole.listen(role.number, starting: replay, on: .thread) { message in
    let (sender, content) = (message.sender, text(message.content))
    let process = "\(sender.process ?? 0) \(sender.program ?? "")"
    say("\(message.sequence) \(content) \(message.missed) \(process)")
    if message.sequence == last { kill(getpid(), SIGKILL) }
    let total = seen.withLock { seen in
      seen += 1 + Int(message.missed)
      return seen
    }
    if total == count { isDone.signal() }
  }
  say("ready")
  isDone.wait()
  observation.cancelAndWait()
}

private func replay(_ word: String) -> Wormhole.Start {
  switch word {
  case "none": .new
  case "last": .last
  case "all": .all
  default: UInt64(word).map { .since($0) } ?? .cursor(word)
  }
}

private func text(_ content: Wormhole.Content<Int>) -> String {
  switch content {
  case .value(let value): "\(value)"
  case .ping: "ping"
  case .cleared: "cleared"
  case .absent: "absent"
  case .unreadable: "unreadable"
  }
}
