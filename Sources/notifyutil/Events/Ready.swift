// Tells whoever waits for it that everything is registered.
import Glibc

enum Ready {
  static let standardError = STDERR_FILENO

  static func isOpen(_ descriptor: CInt) -> Bool {
    fcntl(descriptor, F_GETFD) >= 0
  }

  /// Writes the line. A descriptor beyond the standard ones was made for that alone, so it is
  /// closed: whoever reads sees the end. That nobody reads ends no run.
  static func tell(_ descriptor: CInt) {
    Output.tell("ready", to: descriptor)
    if descriptor > STDERR_FILENO { close(descriptor) }
  }
}
