// Specifies the file names that stand for texts.

@testable import Wormhole

@Suite struct FileNameTests {
  @Test func keepsWhatIsPlainAndEscapesAllElse() {
    let expected: KeyValuePairs = [
      "org.example-1.light_State": "org.example-1.light_State",
      "a/b": "a%2Fb", "../x": "%2E.%2Fx", ".": "%2E", "..": "%2E.", "@count": "%40count",
      "%": "%25", "a b": "a%20b", "\0": "%00", "\u{E9}": "%C3%A9", "e\u{301}": "e%CC%81",
      "": "",
    ]
    for (text, name) in expected { #expect(FileName(for: text).text == name) }
  }

  @Test func isCutWhereItIsTooLong() {
    let long = String(repeating: "x", count: 180)
    #expect(FileName(for: long).text == long)
    let names = ["x", "y", "\u{E9}"].map { FileName(for: long + $0) }
    #expect(Set(names).count == 3)
    for name in names {
      #expect(name.text.utf8.count == 174)
      #expect(name.text.removingPercentEncoding == nil)
    }
  }

  @Test func isNeverSharedNorHiddenNorAPath() {
    var generator = SystemRandomNumberGenerator()
    let alphabet = Array("./%aA2Ff\0\u{E9}虫\u{1F469} @") + ["e\u{301}"]
    for _ in 0..<5000 {
      let text = String(
        (0..<Int.random(in: 1...12, using: &generator)).map { _ in alphabet.randomElement()! })
      let name = FileName(for: text)
      #expect(name.text.removingPercentEncoding.map { Array($0.utf8) } == Array(text.utf8))
      #expect(!name.text.hasPrefix(".") && !name.text.contains("/") && !name.text.contains("\0"))
    }
  }
}
