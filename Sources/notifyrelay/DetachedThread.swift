// Runs a function that may block on a thread of its own.

import DarwinNotifySupport
import Glibc

/// Starts a thread that ends with the function. Returns a descriptor that then becomes readable and
/// that the caller closes; `nil` if no thread can be created.
func runDetached(_ body: @escaping @Sendable () -> Void) -> CInt? {
  guard let pipe = makePipe() else { return nil }
  let isStarted = startThread {
    body()
    close(pipe.writeEnd)
  }
  guard isStarted else {
    close(pipe.readEnd)
    close(pipe.writeEnd)
    return nil
  }
  return pipe.readEnd
}
