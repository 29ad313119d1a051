// Writes lines to the standard streams.
import Glibc

/// Each line is one write, so that it is seen at once, and lines of several threads do not mix.
enum Output {
  /// Takes the place of standard streams that are closed: a file that is opened later would get
  /// their numbers, with the lines. To write to these fails.
  static func reserveStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // It gets the lowest number that is free.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Prints a line, or ends the program: in silence if nobody reads any more, else with status 1.
  static func print(_ text: String) {
    let error = write(text, to: STDOUT_FILENO)
    if error == EPIPE { endAsOfBrokenPipe() }
    guard error == 0 else {
      complain("notifyutil: standard output: \(String(cString: strerror(error)))")
      ExitStatus.mistake.end()
    }
  }

  static func complain(_ text: String) {
    tell(text, to: STDERR_FILENO)
  }

  /// Writes a line that nobody has to read.
  static func tell(_ text: String, to descriptor: CInt) {
    _ = write(text, to: descriptor)
  }

  /// Writes a line. Returns 0, or the error that kept it from being written to its end.
  private static func write(_ text: String, to descriptor: CInt) -> CInt {
    var line = text + "\n"
    return line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let n = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if n >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[n...])
        } else if errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waiting, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }

  /// Ends the program as the signal would, which this thread may have blocked, or whoever started
  /// the program ignored.
  private static func endAsOfBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGPIPE)
    _exit(128 + SIGPIPE)  // The first process of a container is spared.
  }
}
