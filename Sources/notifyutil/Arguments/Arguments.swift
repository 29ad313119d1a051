// Turns the command line into settings with a list of commands.
import DarwinNotify

/// The command line, understood.
struct Arguments: Equatable {
  private(set) var settings = Settings()
  private(set) var commands: [Command] = []
  /// What is to be said about the line before the commands run.
  private(set) var notes: [String] = []

  private var kind = Kind.dispatch
  private var signal: CInt = 1
  private var rest: ArraySlice<String>

  /// Understands the words after the name of the program, all of them before any command runs.
  init(parsing words: [String]) throws(Ending) {
    rest = words[...]
    while let word = rest.popFirst() {
      if try !takeSetting(word), try !takeKind(word) {
        try takeCommand(word)
      }
    }
  }

  /// Takes an option that acts on the whole run. Returns whether it was one.
  private mutating func takeSetting(_ word: String) throws(Ending) -> Bool {
    switch word {
    case "-h", "-help", "--help": throw .help(notes: notes)
    case "--version": throw .version(notes: notes)
    case "-q": settings.printing = .nothing
    case "-v": settings.printing = .everything
    case "-z": settings.pauseMilliseconds = try time()
    case "-M": settings.options.insert(.dispatch)
    case "-R": settings.options.insert(.regenerate)
    case "--json": settings.isJSON = true
    case "--bus": settings.bus = try address()
    default: return false
    }
    return true
  }

  /// Takes an option that chooses the type of what follows. Returns whether it was one.
  private mutating func takeKind(_ word: String) throws(Ending) -> Bool {
    switch word {
    case "-port":
      throw mistake(
        "-port is not possible: Linux has no Mach ports",
        "use -dispatch, -file, -signal, -check or -plain", showsUsage: false)
    case "-dispatch": kind = .dispatch
    case "-file": kind = .file
    case "-check": kind = .check
    case "-plain": kind = .plain
    case "-signal", "-sig":
      signal = try signalNumber()
      kind = .signal(signal)
    default: return false
    }
    return true
  }

  private mutating func takeCommand(_ word: String) throws(Ending) {
    switch word {
    case "-p": commands.append(.post(try key(of: word)))
    case "-g": commands.append(.get(try key(of: word)))
    case "-s": commands.append(try setCommand())
    case "-w": commands.append(.watch(try key(of: word), kind, count: nil))
    case "--list": commands.append(.list)
    case "--monitor": commands.append(.monitor(prefix: optionalValue() ?? ""))
    case _ where word.hasPrefix("-") && Number.isDigit(word.utf8.dropFirst().first):
      let count = max(1, Int(Number.int(word.dropFirst())))
      commands.append(.watch(try key(of: word), kind, count: count))
    default:
      throw mistake("unrecognized option: \(word)")
    }
  }
}

// MARK: Values of options

extension Arguments {
  private mutating func value(_ complaint: String) throws(Ending) -> String {
    guard let value = rest.popFirst() else { throw mistake(complaint) }
    return value
  }

  /// The next word, unless it is an option.
  private mutating func optionalValue() -> String? {
    guard let word = rest.first, !word.hasPrefix("-") else { return nil }
    return rest.popFirst()
  }

  private mutating func address() throws(Ending) -> String {
    let complaint = "address required following --bus"
    let address = try value(complaint)
    guard !address.isEmpty else { throw mistake(complaint) }
    return address
  }

  private mutating func key(of option: String) throws(Ending) -> NotificationName {
    NotificationName(try value("name required following \(option)"))
  }

  private mutating func setCommand() throws(Ending) -> Command {
    let key = try key(of: "-s")
    let text = try value("value required following -s name")
    if !Number.begins(text) {
      notes.append("value following -s name must be a 64-bit integer")
    }
    return .set(key, Number.state(text))
  }

  private mutating func time() throws(Ending) -> UInt32 {
    let text = try value("timer value must be supplied following -z")
    guard Number.passesForTime(text) else {
      throw mistake("-z \(text) is invalid", "timer value must be an integer", showsUsage: false)
    }
    return UInt32(clamping: Number.int(text))
  }

  private mutating func signalNumber() throws(Ending) -> CInt {
    guard let text = optionalValue() else { return signal }
    guard Number.isDigit(text.utf8.first) else {
      throw mistake(
        "-signal \(text) is invalid", "signals must be specified as integer values",
        showsUsage: false)
    }
    return Number.int(text)
  }

  /// A mistake, behind what was to be said about the words before.
  private func mistake(_ lines: String..., showsUsage: Bool = true) -> Ending {
    .mistake(notes + lines, showsUsage: showsUsage)
  }
}
