// The commands of a peer.
import DarwinNotify
import Foundation
import Wormhole

typealias Command = @Sendable (Role, [String]) throws -> Void

let commands: [String: Command] = [
  "pass": pass, "ping": ping, "clear": clear, "print": printMessage, "increase": increase,
  "flood": flood, "listen": listen, "directory": printDirectory, "limit-files": limitFiles,
  "fill-disk": fillDisk,
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

/// BYTES: passes values of that many bytes until a reader has let the log fill the disk, then one
/// more when the reader has ended.
@Sendable private func fillDisk(_ role: Role, _ words: [String]) throws {
  let value = Data(count: number(words[0]))
  // The file gets its size: later, there is no room for it to grow.
  for _ in 0..<100 { try role.hole.blocking.pass(value, to: role.data) }
  let (reader, output) = (Process(), Pipe())
  reader.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
  reader.arguments = [
    "-c",
    """
    import sqlite3, sys, time
    db = sqlite3.connect(sys.argv[1], isolation_level=None)
    db.execute("BEGIN")
    db.execute("SELECT * FROM names").fetchall()
    print(flush=True)
    time.sleep(3600)
    """, role.group.directory.appendingPathComponent("wormhole/store.sqlite").path,
  ]
  reader.standardOutput = output
  try reader.run()
  _ = output.fileHandleForReading.availableData
  do {
    while true { try role.hole.blocking.pass(value, to: role.data) }
  } catch WormholeError.diskFull {
    say("no room")
  }
  reader.terminate()
  reader.waitUntilExit()
  try role.hole.blocking.pass(value, to: role.data)
  say("passed")
}

/// Prints where the group is.
@Sendable private func printDirectory(_ role: Role, _ words: [String]) throws {
  say(role.group.directory.path)
}
