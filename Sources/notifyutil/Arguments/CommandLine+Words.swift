// Reads the arguments without changing them.

extension CommandLine {
  /// The arguments. (`CommandLine.arguments` repairs invalid UTF-8, which would turn one name into
  /// another.)
  static var words: [String] {
    get throws(Ending) {
      var words: [String] = []
      for case let word? in UnsafeBufferPointer(start: unsafeArgv, count: Int(argc)).dropFirst() {
        guard let text = String(validatingCString: word) else {
          let mended = String(cString: word)
          throw .mistake("an argument is not UTF-8: \(mended)")
        }
        words.append(text)
      }
      return words
    }
  }
}
