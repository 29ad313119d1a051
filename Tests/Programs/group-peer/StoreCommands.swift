// Runs the commands that fork, or use many names.
import Foundation
import Wormhole

/// Runs a command, if it is one of these.
func runStoreCommand(
  _ command: String, _ arguments: [String], in group: AppGroup
) throws -> Bool {
  switch command {
  case "store-fork":  // NAME: succeeds if a forked child cannot pass a message
    let hole = try Wormhole(group: group)
    let name = MessageName<Int>(arguments[0])
    try hole.blocking.pass(1, to: name)
    let isTold = isToldInAForkedChild { try hole.blocking.pass(2, to: name) }
    // The exit handlers have run in the child.
    _exit(isTold ? 0 : 3)
  case "cursor-fork":  // NAME CURSOR: holds it, with a child, whose number it prints
    let cursor = try group.store(named: "wormhole").openCursor(arguments[1], of: arguments[0])
    try cursor.advance(to: StoredPosition(number: 7))
    forkAndWait()
    withExtendedLifetime(cursor) {}
  case "many-names":  // COUNT: passes to and clears that many names, prints files and KiB of memory
    let hole = try Wormhole(group: group)
    let count = Int(arguments[0]) ?? 0
    for index in 0..<count {
      let name = MessageName<Int>("org.example.\(index)")
      try hole.blocking.pass(index, to: name)
      guard try hole.blocking.message(name) == index else { exit(1) }
      try hole.blocking.clear(name)
      if [99, count - 1].contains(index) { say("\(try openFiles()) \(try memoryKiB())") }
    }
  default:
    return false
  }
  return true
}

/// Returns whether SQLite is refused to a forked child. There must be no other thread: it could
/// hold a lock of the runtime, for which the child would wait forever.
private func isToldInAForkedChild(_ append: () throws -> Void) -> Bool {
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  let process = fork()
  if process == 0 {
    do { try append() } catch WormholeError.database { exit(0) } catch {}
    _exit(1)
  }
  var status: Int32 = -1
  waitpid(process, &status, 0)
  return status == 0
}

/// Waits together with a forked child until both are killed. The child ends in order if it can.
private func forkAndWait() {
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  // The child says it, once it has closed what it must not keep.
  if fork() == 0 {
    signal(SIGTERM) { _ in exit(0) }
    say("\(getpid())")
  }
  while true { pause() }
}

private func openFiles() throws -> Int {
  try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
}

/// The private memory of this process.
private func memoryKiB() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? .max
}

func say(_ text: String) {
  print(text)
  fflush(nil)
}
