// Uses the terminal as a screen.

import Dispatch
import Glibc

/// The terminal behind the standard streams, from the first frame until the program ends.
enum Terminal {
  /// As it was before.
  nonisolated(unsafe) private static var before: termios?  // Written once, before it is read.

  static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// Its columns and rows; if it is not a terminal, those of a common one.
  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Shows the other screen, and hands over keys as they are pressed. At its end the program
  /// restores what was there.
  static func begin() {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
    before = settings
    atexit { Terminal.restore() }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    Output.write("\u{1B}[?1049h\u{1B}[?25l")
  }

  /// Draws lines from the top, without flicker.
  static func draw(_ lines: [String]) {
    Output.write(
      "\u{1B}[H" + lines.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[K\u{1B}[J")
  }

  private static func restore() {
    guard var settings = before else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    Output.write("\u{1B}[?25h\u{1B}[?1049l")
  }
}
