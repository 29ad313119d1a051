// Describes the result of a program.

/// How a program ended, with everything it printed.
struct Outcome: Equatable, Sendable {
  /// The exit status, or the number of the signal that ended it.
  var status: Int32 = 0
  var output = ""
  var errors = ""
}
