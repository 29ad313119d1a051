// Reports to the user.

import Glibc

/// Writes a line to standard error, where the journal reads it. A text from another machine does
/// not end the line.
func say(_ text: String) {
  let line = "notifyrelay: \(String(text.map { $0.isNewline ? " " : $0 }))\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
}

func end(_ mistake: Mistake) -> Never {
  say(mistake.description)
  exit(mistake.status)
}
