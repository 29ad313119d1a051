// Checks that a handler for the main queue runs as the main actor.

public import DarwinNotify
internal import Dispatch
internal import Glibc

/// Waits on the main queue for the name that the program was given; the first post ends it.
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
