// Reads the command line.

/// What to do.
enum Command: String, CaseIterable {
  case get, pass, listen, history, clear, names, defaults, backup

  /// The number of words that may follow it.
  var operands: ClosedRange<Int> {
    switch self {
    case .names: 1...1
    case .get, .listen, .history, .clear, .backup: 2...2
    case .pass: 2...3
    case .defaults: 1...3
    }
  }
}

/// A parsed command line.
struct Arguments {
  var command: Command
  var operands: [String] = []
  var directory = "wormhole"
  var isJSON = false
  var isText = false
  var removes = false
  var since: UInt64?
  var count: UInt64?
  var keep: Int?
  var type: String?

  var group: String { operands[0] }

  static let usage = """
    usage: wormhole get GROUP NAME
           wormhole pass [--keep=COUNT] [--type=TYPE] GROUP NAME [VALUE]
           wormhole listen [--since=NUMBER] [--count=COUNT] GROUP NAME
           wormhole history [--since=NUMBER] GROUP NAME
           wormhole clear GROUP NAME
           wormhole names GROUP
           wormhole defaults GROUP [KEY [VALUE]]
           wormhole defaults --remove GROUP KEY
           wormhole backup GROUP DIRECTORY

      --directory=NAME  use this directory of messages instead of wormhole
      --text            values are texts, and not JSON
      --json            print an object on each line
      --keep=COUNT      let the name keep at least this many messages
      --type=TYPE       pass a value of this type
      --since=NUMBER    begin after the message with this number
      --count=COUNT     end after this many messages
      --remove          remove the value of a key
      --version         print the version
      -h, --help        print this text

    A VALUE is JSON; without one, standard input is read. The exit status is 1 if there is no such
    message or value, and 2 if something failed.
    """

  init(_ words: [String]) throws(Misuse) {
    guard let word = words.first else { throw Misuse(reason: "no command") }
    guard let command = Command(rawValue: word) else {
      throw Misuse(reason: "no such command: \(word)")
    }
    self.command = command
    var rest = words.dropFirst()
    var takesOptions = true
    while let word = rest.popFirst() {
      if takesOptions, word == "--" {
        takesOptions = false
      } else if takesOptions, word.hasPrefix("--") {
        try take(option: word)
      } else {
        operands.append(word)
      }
    }
    guard command.operands.contains(operands.count) else {
      throw Misuse(reason: "\(command.rawValue): wrong number of arguments")
    }
    guard !removes || operands.count == 2 else {
      throw Misuse(reason: "--remove needs a key and no value")
    }
  }

  private mutating func take(option word: String) throws(Misuse) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let (option, value) = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    switch (option, value, command) {
    case ("--json", nil, _): isJSON = true
    case ("--text", nil, _): isText = true
    case ("--directory", let name?, _): directory = name
    case ("--remove", nil, .defaults): removes = true
    case ("--type", let name?, .pass): type = name
    case ("--since", let text?, .listen), ("--since", let text?, .history):
      since = try number(text, of: option)
    case ("--count", let text?, .listen): count = max(1, try number(text, of: option))
    case ("--keep", let text?, .pass): keep = Int(clamping: max(1, try number(text, of: option)))
    default: throw Misuse(reason: "\(command.rawValue) has no option \(word)")
    }
  }

  private func number(_ text: String, of option: String) throws(Misuse) -> UInt64 {
    guard let number = UInt64(text) else { throw Misuse(reason: "\(option) needs a number") }
    return number
  }
}

/// A malformed command line.
struct Misuse: Error {
  let reason: String
}
