// Writes lines to the standard streams.
import Glibc

/// Each line is one write, so that it is seen at once, and lines of several threads do not mix.
enum Output {
  static func print(_ text: String) {
    write(text, to: STDOUT_FILENO)
  }

  static func complain(_ text: String) {
    write(text, to: STDERR_FILENO)
  }

  private static func write(_ text: String, to descriptor: CInt) {
    var line = text + "\n"
    line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let n = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if n > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[n...])
        } else if errno == EAGAIN {
          var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&waiting, 1, -1)
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}
