// Writes lines to the standard streams.

import DarwinNotifySupport
import Glibc

/// Each line is one write, so that it appears at once and lines of several threads do not mix.
enum Output {
  /// Opens the standard streams that are closed, so that files opened later do not get their
  /// numbers and with them the lines. Writing to these streams fails.
  static func reserveStandardStreams() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      // It gets the lowest free number.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }

  /// Prints a line, or ends the program: silently if nobody reads it any longer, otherwise with
  /// status 1.
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

  /// Writes a line that need not be read.
  static func tell(_ text: String, to descriptor: CInt) {
    _ = write(text, to: descriptor)
  }

  /// Writes text for a terminal, as it is.
  static func write(_ text: String) {
    _ = write(text, end: "", to: STDOUT_FILENO)
  }

  /// Writes a line. Returns 0, or the error that stopped it.
  private static func write(_ text: String, end: String = "\n", to descriptor: CInt) -> CInt {
    var line = text + end
    return line.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: descriptor) }
  }

  /// Ends the program as SIGPIPE would. This thread may block the signal, or the parent may have
  /// ignored it.
  private static func endAsOfBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGPIPE)
    _exit(128 + SIGPIPE)  // The signal does not kill the first process of a container.
  }
}

/// A JSON value.
enum JSON {
  case null
  case string(String)
  case number(String)
  /// Text that is already JSON.
  case raw(String)
  case array([JSON])
  case object([(String, JSON)])

  static func number(_ value: some BinaryInteger) -> JSON {
    .number(String(value))
  }

  /// The value on one line.
  var text: String {
    switch self {
    case .null: "null"
    case .string(let text): Self.quote(text)
    case .number(let digits): digits
    case .raw(let text): text
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { Self.quote($0) + ":" + $1.text }.joined(separator: ",") + "}"
    }
  }

  private static func quote(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\r": quoted += "\\r"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20: quoted += "\\u" + padded(scalar.value, to: 4, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
