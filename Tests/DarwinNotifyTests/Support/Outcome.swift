// Says what a run came to.

/// How a program has ended, with all that it printed.
struct Outcome: Equatable, Sendable {
  /// The exit status, or the number of the signal that ended it.
  var status: Int32 = 0
  var output = ""
  var errors = ""
}
