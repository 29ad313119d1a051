// Reports that everything is registered.
import Glibc

enum Ready {
  static let standardError = STDERR_FILENO

  static func isOpen(_ descriptor: CInt) -> Bool {
    fcntl(descriptor, F_GETFD) >= 0
  }

  /// Writes the line. A descriptor beyond the standard ones exists only for that, so it is closed
  /// and its reader sees the end. It does not matter if nobody reads it.
  static func tell(_ descriptor: CInt) {
    Output.tell("ready", to: descriptor)
    if descriptor > STDERR_FILENO { close(descriptor) }
  }
}
