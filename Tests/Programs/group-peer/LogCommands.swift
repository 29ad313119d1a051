// Runs the commands that use logs.
import Foundation
import Wormhole

/// Runs a command, if it is one of these.
func runLogCommand(
  _ command: String, _ arguments: [String], in group: AppGroup
) throws -> Bool {
  switch command {
  case "log-fork":  // NAME: succeeds if a forked child cannot append
    let mailbox = try LogTransit().openMailbox(for: arguments[0], in: group.directory)
    _ = try mailbox.append(Wormhole.Record(.value(payload("parent"))))
    let isTold = isToldInAForkedChild {
      _ = try mailbox.append(Wormhole.Record(.value(payload("child"))))
    }
    exit(isTold ? 0 : 3)
  case "log-cursor-fork":  // NAME CURSOR: holds it, with a child, whose number it prints
    let mailbox = try LogTransit().openMailbox(for: arguments[0], in: group.directory)
    let cursor = try mailbox.openCursor(arguments[1])
    try cursor.advance(to: 7)
    forkAndWait()
    withExtendedLifetime(cursor) {}
  case "update-fork":  // NAME: holds the lock of a name, with a child, whose number it prints
    let hole = try Wormhole(group: group, transit: .coordinatedFile)
    let name = MessageName<Int>(arguments[0])
    for number in 1...3 { try hole.blocking.pass(number, to: name) }
    try hole.blocking.update(name) { _ in forkAndWait() }
  case "log-many":  // COUNT: appends to and reads that many logs, prints files and KiB of memory
    let hole = try Wormhole(group: group, transit: .log)
    let count = Int(arguments[0]) ?? 0
    for index in Array(0..<count) + Array(0..<count / 16) {
      let name = MessageName<Int>("org.example.\(index)")
      try hole.blocking.pass(index, to: name)
      guard try hole.blocking.message(name) == index else { exit(1) }
      if index % 100 == 99 { say("\(index + 1) logs") }
    }
    say("\(try openFiles()) \(try memoryKiB())")
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
    do { try append() } catch WormholeError.database { _exit(0) } catch {}
    _exit(1)
  }
  var status: Int32 = -1
  waitpid(process, &status, 0)
  return status == 0
}

/// Waits together with a forked child until both are killed.
private func forkAndWait() {
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: (@convention(c) () -> pid_t).self)
  // The child says it, once it has closed what it must not keep.
  if fork() == 0 { say("\(getpid())") }
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

private func payload(_ text: String) -> Wormhole.Payload {
  Wormhole.Payload(codec: "raw", type: "String", version: 1, data: Data(text.utf8))
}
