// Reads the words of the command line as they are.

extension CommandLine {
  /// The words after the name of the program. (`arguments` mends what is not UTF-8, which would
  /// make another name of a name.)
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
