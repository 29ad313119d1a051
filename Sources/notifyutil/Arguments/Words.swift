// Hands out the words of the command line one after the other.

/// The words that are left, of which a long option may carry its value behind an equals sign.
struct Words: Equatable {
  private var rest: ArraySlice<String>
  private var attached: String?

  init(_ words: [String]) {
    rest = words[...]
  }

  /// The next option. A value that is attached to it waits to be asked for.
  mutating func next() -> String? {
    guard let word = rest.popFirst() else { return nil }
    guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return word }
    attached = String(word[word.index(after: sign)...])
    return String(word[..<sign])
  }

  /// Whether the option has a value that nobody asked for.
  var hasValueLeft: Bool { attached != nil }

  /// The value behind the equals sign.
  mutating func attachedValue() -> String? {
    defer { attached = nil }
    return attached
  }

  /// The value of an option, attached or the next word.
  mutating func value() -> String? {
    attachedValue() ?? rest.popFirst()
  }

  /// The same, unless the next word is an option.
  mutating func optionalValue() -> String? {
    if attached == nil, rest.first?.hasPrefix("-") ?? true { return nil }
    return value()
  }
}
