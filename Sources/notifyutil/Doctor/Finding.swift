// Describes what may keep a post from arriving.

/// One result of a check: what is the matter, and what helps.
struct Finding: Equatable {
  /// How the doctor knows it.
  enum Certainty: String {
    case seen
    /// Concluded from something that may have changed since, such as an environment.
    case inferred
    /// Could not be examined. It says nothing about whether all is well.
    case unknown
  }

  /// The name of the check, which stays the same in all versions.
  let check: String
  let certainty: Certainty
  let sentence: String
  let remedy: String

  /// Whether what the user asks about could not be examined.
  var leavesQuestionOpen: Bool { certainty == .unknown && check != "hidden-processes" }

  var json: JSON {
    .object([
      ("check", .string(check)), ("certainty", .string(certainty.rawValue)),
      ("sentence", .string(sentence)), ("remedy", .string(remedy)),
    ])
  }
}
