// The commands of a peer.
import DarwinNotify
import Foundation
import Wormhole

typealias Command = @Sendable (Role, [String]) throws -> Void

let commands: [String: Command] = [
  "pass": pass, "ping": ping, "clear": clear, "print": printMessage, "increase": increase,
  "hold": hold, "flood": flood, "send-bytes": sendBytes, "hear-bytes": hearBytes,
  "listen": listen, "directories": printDirectories, "limit-files": limitFiles,
]

/// FIRST COUNT: passes numbers. Prints the number of each message.
@Sendable private func pass(_ role: Role, _ words: [String]) throws {
  let first = number(words[0])
  for value in first..<first + number(words[1]) {
    print(try role.hole.pass(value, to: role.number))
  }
}

@Sendable private func ping(_ role: Role, _ words: [String]) throws {
  print(try role.hole.ping(role.number))
}

@Sendable private func clear(_ role: Role, _ words: [String]) throws {
  try role.hole.clear(role.number)
}

@Sendable private func printMessage(_ role: Role, _ words: [String]) throws {
  print(try role.hole.message(role.number).map(String.init) ?? "none")
}

/// COUNT: adds one to the stored number that many times.
@Sendable private func increase(_ role: Role, _ words: [String]) throws {
  for _ in 0..<number(words[0]) { try role.hole.update(role.number) { $0 = ($0 ?? 0) + 1 } }
}

/// Adds one to the stored number, but stops in the middle.
@Sendable private func hold(_ role: Role, _ words: [String]) throws {
  try role.hole.update(role.number) { value in
    raise(SIGSTOP)
    value = (value ?? 0) + 1
  }
}

/// BYTES: passes values of that many equal bytes until it is killed.
@Sendable private func flood(_ role: Role, _ words: [String]) throws {
  let count = number(words[0])
  for round in 0... {
    try role.hole.pass(
      Data(repeating: UInt8(truncatingIfNeeded: round), count: count), to: role.data)
    if round == 0 { say("ready") }
  }
}

/// BYTES: passes that many random bytes. Prints their sum.
@Sendable private func sendBytes(_ role: Role, _ words: [String]) throws {
  let random = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
  let data = try random.read(upToCount: number(words[0])) ?? Data()
  try role.hole.pass(data, to: role.data)
  print(sum(data))
}

/// Prints the sum of the next bytes passed.
@Sendable private func hearBytes(_ role: Role, _ words: [String]) throws {
  let heard = DispatchSemaphore(value: 0)
  let observation = try role.hole.listen(role.data, starting: .new, on: .thread) { message in
    say(message.value.map { "\(sum($0))" } ?? "\(message.content)")
    heard.signal()
  }
  say("ready")
  heard.wait()
  observation.cancelAndWait()
}

/// BYTES COUNT: passes that many bytes where no file may be longer than COUNT.
@Sendable private func limitFiles(_ role: Role, _ words: [String]) throws {
  signal(SIGXFSZ, SIG_IGN)
  let most = rlim_t(number(words[1]))
  var limit = rlimit(rlim_cur: most, rlim_max: most)
  setrlimit(__rlimit_resource_t(1), &limit)
  do throws(WormholeError) {
    try role.hole.pass(Data(count: number(words[0])), to: role.data)
  } catch {
    guard error.number == EFBIG else { throw error }
    say("too long")
  }
}

/// Prints where the group is. The first argument may be a user to become.
@Sendable private func printDirectories(_ role: Role, _ words: [String]) throws {
  say(role.group.directory.path)
  say(try role.group.runtimeDirectory.path)
  guard let user = words.first.flatMap({ uid_t($0) }) else { return }
  setuid(user)
  do throws(WormholeError) {
    _ = try AppGroup(words[1], in: URL(fileURLWithPath: words[2]))
  } catch {
    say(error)
  }
}
