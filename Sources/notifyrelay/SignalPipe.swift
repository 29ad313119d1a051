// Ends the program in an orderly way when it is asked to.

import Glibc

/// A pipe that SIGTERM and SIGINT write into.
enum SignalPipe {
  private nonisolated(unsafe) static var writeEnd: CInt = -1
  // Written once, before the signals are caught.

  static func open(on loop: Loop, _ handler: @escaping () -> Void) {
    guard let pipe = makePipe() else { return }
    writeEnd = pipe.writeEnd
    loop.add(pipe.readEnd, run: handler)
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { _ in
      let error = errno
      var byte: UInt8 = 1
      _ = write(SignalPipe.writeEnd, &byte, 1)
      errno = error
    }
    for number in [SIGTERM, SIGINT] { sigaction(number, &action, nil) }
    signal(SIGPIPE, SIG_IGN)
  }
}
