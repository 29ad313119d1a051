// The commands of a peer.
import DarwinNotify
import Foundation
import Wormhole

typealias Command = @Sendable (Role, [String]) throws -> Void

let commands: [String: Command] = [
  "pass": pass, "ping": ping, "clear": clear, "print": printMessage, "increase": increase,
  "flood": flood, "listen": listen, "directory": printDirectory, "limit-files": limitFiles,
]

/// FIRST COUNT: passes numbers. Prints the number of each message.
@Sendable private func pass(_ role: Role, _ words: [String]) throws {
  let first = number(words[0])
  for value in first..<first + number(words[1]) {
    print(try role.hole.blocking.pass(value, to: role.number))
  }
}

@Sendable private func ping(_ role: Role, _ words: [String]) throws {
  print(try role.hole.blocking.ping(role.number))
}

@Sendable private func clear(_ role: Role, _ words: [String]) throws {
  try role.hole.blocking.clear(role.number)
}

@Sendable private func printMessage(_ role: Role, _ words: [String]) throws {
  print(try role.hole.blocking.message(role.number).map(String.init) ?? "none")
}

/// COUNT: adds one to the stored number that many times.
@Sendable private func increase(_ role: Role, _ words: [String]) throws {
  for _ in 0..<number(words[0]) {
    try role.hole.blocking.update(role.number) { $0 = ($0 ?? 0) + 1 }
  }
}

/// BYTES: passes values of that many equal bytes until it is killed.
@Sendable private func flood(_ role: Role, _ words: [String]) throws {
  let count = number(words[0])
  for round in 0... {
    try role.hole.blocking.pass(
      Data(repeating: UInt8(truncatingIfNeeded: round), count: count), to: role.data)
    if round == 0 { say("ready") }
  }
}

/// BYTES COUNT: passes that many bytes where no file may be longer than COUNT.
@Sendable private func limitFiles(_ role: Role, _ words: [String]) throws {
  signal(SIGXFSZ, SIG_IGN)
  let most = rlim_t(number(words[1]))
  var limit = rlimit(rlim_cur: most, rlim_max: most)
  setrlimit(__rlimit_resource_t(1), &limit)
  do {
    try role.hole.blocking.pass(Data(count: number(words[0])), to: role.data)
  } catch WormholeError.diskFull {
    say("no room")
  } catch let error as WormholeError where error.code == .database {
    say("too long")
  }
}

/// Prints where the group is.
@Sendable private func printDirectory(_ role: Role, _ words: [String]) throws {
  say(role.group.directory.path)
}
