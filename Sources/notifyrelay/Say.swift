// Reports to the user.

import Glibc

/// Writes a line to standard error, which the journal reads. Line breaks in the text become blanks,
/// since the text may come from another machine.
func say(_ text: String) {
  let line = "notifyrelay: \(String(text.map { $0.isNewline ? " " : $0 }))\n"
  _ = write(STDERR_FILENO, line, line.utf8.count)
}

func end(_ mistake: Mistake) -> Never {
  say(mistake.description)
  exit(mistake.status)
}
