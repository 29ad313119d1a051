// Passes and hears messages, and says so line by line, for a soak that keeps books of its own.
//
//     soak-peer pass-lines NAME KEEP WRITER FIRST   begin TEXT; passed TEXT NUMBER
//     soak-peer hear-lines NAME KEEP CURSOR         heard NUMBER MISSED [TEXT]

internal import DarwinNotify
internal import Dispatch
internal import Glibc
internal import Wormhole

/// Returns whether the words are those of a worker of this file.
func tellHistory(_ words: [String]) throws -> Bool {
  guard words.count > 3, words[0].hasSuffix("-lines"), let keep = Int(words[2]) else {
    return false
  }
  let hole = try Wormhole(group: AppGroup("org.example.soak"))
  let name = MessageName<String>(words[1], keep: .last(keep))
  if words[0] == "hear-lines" {
    kept.append(
      try hole.listen(name, starting: .cursor(words[3]), on: .queue(DispatchQueue(label: "soak"))) {
        say("heard \($0.sequence) \($0.missed) \($0.value ?? "")")
      })
    return true
  }
  guard words.count > 4, let first = Int(words[4]) else { return false }
  // The driver stops a writer by a signal, and wants it to finish what it has begun.
  signal(SIGTERM, SIG_IGN)
  let end = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
  let isEnding = Flag()
  end.setEventHandler { isEnding.raise() }
  end.resume()
  for number in first... {
    if isEnding.isRaised { exit(0) }
    try passLine("\(words[3]).\(number)", to: name, in: hole)
    usleep(200)
  }
  return true
}

/// A name that ends in "cleared" is cleared now and then.
private func passLine(_ text: String, to name: MessageName<String>, in hole: Wormhole) throws {
  say("begin \(text)")
  say("passed \(text) \(try hole.blocking.pass(text, to: name))")
  if name.rawValue.hasSuffix("cleared"), Int.random(in: 0..<20) == 0 {
    try hole.blocking.clear(name)
  }
}

/// Writes a line at once and in one piece.
private func say(_ line: String) {
  let bytes = Array("\(line)\n".utf8)
  guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(1) }
}
