// Parses the command line.
import DarwinNotify

/// The parsed command line.
struct Arguments: Equatable {
  private(set) var settings = Settings()
  private(set) var commands: [Command] = []

  private var kind = Kind.dispatch
  private var signal: CInt = 1
  private var words: Words

  /// Parses all arguments, before any command runs.
  init(parsing line: [String]) throws(Ending) {
    guard !line.isEmpty else { throw .usage }
    words = Words(line)
    while let option = words.next() {
      if try !takeSetting(option), try !takeKind(option) {
        try takeCommand(option)
      }
      if words.hasValueLeft { throw .mistake("\(option) takes no value") }
    }
    try checkThatAllHasAUse()
  }

  /// Takes an option that applies to the whole run. Returns whether it was one.
  private mutating func takeSetting(_ option: String) throws(Ending) -> Bool {
    switch option {
    case "-h", "-help", "--help": throw .help
    case "--version": throw .version
    case "-q": settings.printing = .nothing
    case "-v": settings.printing = .everything
    case "-z": settings.pauseMilliseconds = try pause()
    case "-M": settings.options.insert(.dispatch)
    case "-R": settings.options.insert(.regenerate)
    case "--json": settings.isJSON = true
    case "--bus": settings.bus = try text(of: option, "address")
    case "--exec": settings.hook = try text(of: option, "command")
    case "--ready": settings.readyDescriptor = try readyDescriptor()
    case "--timeout": settings.timeout = try timeout()
    case "--wait-for-bus": settings.waitsForBus = true
    case "--probe": settings.isProbing = true
    default: return false
    }
    return true
  }

  /// Takes an option that selects the type of later registrations. Returns whether it was one.
  private mutating func takeKind(_ option: String) throws(Ending) -> Bool {
    switch option {
    case "-port":
      throw .mistake(
        "-port is not supported, Linux has no Mach ports: "
          + "use -dispatch, -file, -signal, -check or -plain")
    case "-dispatch": kind = .dispatch
    case "--distributed": kind = .distributed
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

  private mutating func takeCommand(_ option: String) throws(Ending) {
    switch option {
    case "-p": commands.append(.post(try key(of: option)))
    case "-g": commands.append(.get(try key(of: option)))
    case "-s": commands.append(.set(try key(of: option), try state()))
    case "-w": commands.append(.register(try key(of: option), kind, count: nil))
    case "--post-distributed":
      commands.append(.postDistributed(DistributedPost(name: try key(of: option))))
    case "--object", "--user-info": try completePost(option)
    case "--list": commands.append(.list(prefix: words.optionalValue() ?? ""))
    case "--top": commands.append(.top(prefix: words.optionalValue() ?? ""))
    case "--metrics": commands.append(.metrics(prefix: words.optionalValue() ?? ""))
    case "--doctor": commands.append(try doctor())
    case "--monitor": commands.append(.monitor(prefix: words.optionalValue() ?? ""))
    case _ where option.hasPrefix("-") && Number.isDigit(option.utf8.dropFirst().first):
      guard let count = Number.natural(option.dropFirst()), count > 0 else {
        throw .mistake("\(option) is invalid: the number of notifications must be positive")
      }
      commands.append(.register(try key(of: option), kind, count: Int(clamping: count)))
    default:
      throw .mistake("unrecognized option: \(option)")
    }
  }

  /// Adds to the distributed notification before.
  private mutating func completePost(_ option: String) throws(Ending) {
    guard case .postDistributed(var post) = commands.last else {
      throw .mistake("\(option) must follow --post-distributed")
    }
    guard let text = words.value() else { throw .mistake("value required following \(option)") }
    if option == "--object" {
      post.object = text
    } else {
      do throws(UserInfoReader.Mistake) {
        post.userInfo = try UserInfo(parsing: text)
      } catch {
        throw .mistake("--user-info must be a JSON object: \(error.text)")
      }
    }
    commands[commands.count - 1] = .postDistributed(post)
  }

  /// Refuses options that have no effect with these commands, instead of ignoring them.
  private func checkThatAllHasAUse() throws(Ending) {
    guard !commands.isEmpty else { throw .mistake("no command given") }
    if settings.hook != nil, !commands.contains(where: \.registersKey) {
      throw .mistake("--exec needs -w or -#")
    }
    if settings.readyDescriptor != nil, !commands.contains(where: \.isRegistration) {
      throw .mistake("--ready needs -w, -# or --monitor")
    }
    if settings.isProbing, !commands.contains(where: \.isDoctor) {
      throw .mistake("--probe needs --doctor")
    }
  }
}

// MARK: Values of options

extension Arguments {
  /// The value of an option, which must not be empty.
  private mutating func text(of option: String, _ what: String) throws(Ending) -> String {
    let text = words.value() ?? ""
    guard !text.isEmpty else { throw .mistake("\(what) required following \(option)") }
    return text
  }

  private mutating func key(of option: String) throws(Ending) -> NotificationName {
    guard let name = words.value() else { throw .mistake("name required following \(option)") }
    return NotificationName(name)
  }

  /// A number alone is a process.
  private mutating func doctor() throws(Ending) -> Command {
    let first = words.optionalValue()
    if let first, let process = Number.natural(first) {
      return .doctor(nil, process: Int32(clamping: process))
    }
    guard let name = first.map(NotificationName.init(_:)) else { return .doctor(nil, process: nil) }
    guard let text = words.optionalValue() else { return .doctor(name, process: nil) }
    guard let process = Number.natural(text), let identifier = Int32(exactly: process) else {
      throw .mistake("--doctor \(name) \(text) is invalid: a process is a number")
    }
    return .doctor(name, process: identifier)
  }

  private mutating func state() throws(Ending) -> UInt64 {
    guard let text = words.value() else { throw .mistake("value required following -s name") }
    guard let state = Number.state(text) else {
      throw .mistake("-s name \(text) is invalid: the value must be a 64-bit decimal or 0x number")
    }
    return state
  }

  private mutating func pause() throws(Ending) -> UInt32 {
    guard let text = words.value() else {
      throw .mistake("timer value must be supplied following -z")
    }
    guard let number = Number.natural(text), let milliseconds = UInt32(exactly: number) else {
      throw .mistake("-z \(text) is invalid: timer value must be an integer")
    }
    return milliseconds
  }

  private mutating func timeout() throws(Ending) -> Double {
    let text = try text(of: "--timeout", "number of seconds")
    guard let timeout = Number.seconds(text) else {
      throw .mistake("--timeout \(text) is invalid: it must be a positive number of seconds")
    }
    return timeout
  }

  private mutating func signalNumber() throws(Ending) -> CInt {
    guard let text = words.optionalValue() else { return signal }
    guard let number = Number.natural(text), (1...64).contains(number) else {
      throw .mistake("-signal \(text) is invalid: signal numbers are 1 to 64")
    }
    return CInt(number)
  }

  private mutating func readyDescriptor() throws(Ending) -> CInt {
    guard let text = words.attachedValue() else { return Ready.standardError }
    guard let number = Number.natural(text), let descriptor = CInt(exactly: number),
      Ready.isOpen(descriptor)
    else {
      throw .mistake("--ready=\(text) is invalid: not an open descriptor")
    }
    return descriptor
  }
}
