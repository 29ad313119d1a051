// Turns signals into bytes in pipes.
import DarwinNotify
import Glibc

/// A pipe for each caught signal, which gets a byte whenever the signal arrives.
enum SignalPipes {
  private static let signals: ClosedRange<CInt> = 1...64

  /// The write ends, by signal.
  fileprivate nonisolated(unsafe) static let writeEnds: UnsafeMutablePointer<CInt> = {
    // A handler reads an entry only after it has been written, once.
    let ends = UnsafeMutablePointer<CInt>.allocate(capacity: signals.count + 1)
    ends.initialize(repeating: -1, count: signals.count + 1)
    return ends
  }()

  /// Starts catching a signal. Returns the read end of its pipe.
  static func open(for number: CInt) throws(NotifyError) -> CInt {
    var ends: [CInt] = [-1, -1]
    guard signals.contains(number) else { throw .invalidSignal }
    guard pipe(&ends) == 0 else { throw .failed }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    ends.forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
    writeEnds[Int(number)] = ends[1]
    guard catchSignal(number) else {
      writeEnds[Int(number)] = -1
      ends.forEach { close($0) }
      throw .invalidSignal
    }
    return ends[0]
  }

  /// Returns whether the signal can be caught.
  private static func catchSignal(_ number: CInt) -> Bool {
    var action = sigaction()
    action.sa_flags = SA_RESTART
    action.__sigaction_handler.sa_handler = { number in
      let error = errno
      var byte: UInt8 = 1
      _ = write(SignalPipes.writeEnds[Int(number)], &byte, 1)
      errno = error
    }
    return sigaction(number, &action, nil) == 0
  }
}
