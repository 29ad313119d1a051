// Hands out the arguments one after the other.

/// The remaining arguments. A long option may have its value attached after an equals sign.
struct Words: Equatable {
  private var rest: ArraySlice<String>
  private var attached: String?

  init(_ words: [String]) {
    rest = words[...]
  }

  /// The next option. An attached value is kept until it is asked for.
  mutating func next() -> String? {
    guard let word = rest.popFirst() else { return nil }
    guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return word }
    attached = String(word[word.index(after: sign)...])
    return String(word[..<sign])
  }

  /// Whether the option has an attached value that was not asked for.
  var hasValueLeft: Bool { attached != nil }

  /// The value after the equals sign.
  mutating func attachedValue() -> String? {
    defer { attached = nil }
    return attached
  }

  /// The value of an option, attached or the next word.
  mutating func value() -> String? {
    attachedValue() ?? rest.popFirst()
  }

  /// The value of an option; `nil` if none is attached and the next word is an option.
  mutating func optionalValue() -> String? {
    if attached == nil, rest.first?.hasPrefix("-") ?? true { return nil }
    return value()
  }
}
