// Sources as they are written for iOS and macOS: nothing in this folder is meant for Linux.
//
//     apple-sources NAME     posts to itself by every function, and prints what each wrapper hears

import Foundation

let name = CommandLine.arguments[1]

/// A line for each wrapper, once.
final class Lines: @unchecked Sendable {
  private let lock = NSLock()
  private var missing: Set<String>

  init(_ missing: Set<String>) { self.missing = missing }

  func say(_ text: String) {
    lock.lock()
    defer { lock.unlock() }
    guard missing.remove(text) != nil else { return }
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
    if missing.isEmpty { exit(0) }
  }
}

let lines = Lines([
  "check", "state 7", "descriptor", "self", "forwarded", "box \(name)", "actor 1", "stream",
  "center stream \(name)", "one: blue 3", "all two: red 4",
  "title red", "queue", "stored", "global", "called",
])

let flag = Flag(name)
_ = flag.isSet
let dispatchObserver = DispatchObserver(name) { state in
  lines.say("state \(state)")
  if flag.isSet { lines.say("check") }
}
var descriptorObserver: DescriptorObserver?
descriptorObserver = DescriptorObserver(name, queue: .main) { token in
  if descriptorObserver?.isToken(token) == true { lines.say("descriptor") }
}
let selfObserver = SelfObserver(name) { lines.say("self") }
Forwarder.shared.forward(name)
let forwarded = NotificationCenter.default.addObserver(
  forName: Notification.Name(name), object: Forwarder.shared, queue: nil
) { _ in lines.say("forwarded") }
let closureObserver = ClosureObserver([name]) { lines.say("box \($0)") }

let queueObserver = QueueObserver(name) { _ in lines.say("queue") }
let storedCallbacks = StoredCallbacks(name) { lines.say($0) }

let counter = PostCounter()
counter.observe(name) { lines.say("actor \($0)") }
let stream = posts(of: name)
let centerStream = StreamObserver().stream(name)
Task {
  for await _ in stream { lines.say("stream") }
}
Task {
  for await posted in centerStream { lines.say("center stream \(posted)") }
}

let one = PlayerObserver("one") { lines.say("\($0) \($1)") }
let all = PlayerObserver(nil) { lines.say("all \($0) \($1)") }
let titles = followTitles(of: "two") { lines.say("title \($0)") }

post(name, state: 7)
postDarwin(name)
postTrack("one", "blue", number: 3)
postTrack("two", "red", number: 4)

withExtendedLifetime((selfObserver, closureObserver, storedCallbacks, one, all)) {
  RunLoop.main.run()
}
