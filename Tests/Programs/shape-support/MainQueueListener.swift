// Checks that a handler for the main queue runs on the main actor.

public import DarwinNotify
internal import Dispatch
internal import Glibc

/// Waits on the main queue for the name in the program's arguments; the first post ends it.
public func listenOnTheMainQueue() throws -> NotificationObservation {
  let name = NotificationName(CommandLine.arguments[1])
  let observation = try DarwinNotificationCenter.shared.observe(name, on: .main) { event in
    dispatchPrecondition(condition: .onQueue(.main))
    MainActor.assumeIsolated { print("delivered \(event.name)") }
    exit(0)
  }
  print("ready")
  fflush(nil)
  return observation
}
