// Switches the light whose label light-label shows.
//
//     swift run light-switch on
import Glibc
import LightsKit
import Wormhole

@main
struct LightSwitch {
  static let usage = """
    usage: light-switch on | off | toggle | level NUMBER | colour NAME | ping | clear
           light-switch choose QUESTION CHOICE | even
    """

  static func main() async {
    do {
      try await run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      print("light-switch: \(error)")
      exit(1)
    }
  }

  static func run(_ arguments: [String]) async throws {
    let group = try Lights.openGroup()
    let hole = try Wormhole(group: group)
    switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
    case ("on", nil, nil): try await hole.pass(true, to: .lightState)
    case ("off", nil, nil): try await hole.pass(false, to: .lightState)
    case ("toggle", nil, nil): try await hole.update(.lightState) { $0 = !($0 ?? false) }
    case ("level", let text?, nil): try await hole.pass(try level(text), to: .lightLevel)
    case ("colour", let name?, nil): try await group.defaults.set(name, for: .lightColour)
    case ("ping", nil, nil): try await hole.ping(.lightState)
    case ("clear", nil, nil): try await hole.clearAll()
    case ("choose", let question?, let choice?): try await choose(choice, of: question, in: group)
    case ("even", nil, nil): try await makeEven(in: group)
    default: throw Misuse(description: usage)
    }
    print("done by \(getpid())")
  }

  static func level(_ text: String) throws -> Double {
    guard let level = Double(text), 0...1 ~= level else {
      throw Misuse(description: "a level is a number from 0 to 1, not \(text)")
    }
    return level
  }

  /// Records a choice, new or repeated.
  static func choose(_ choice: String, of question: String, in group: AppGroup) async throws {
    try await group.choices().write { choices in
      try choices.run(
        """
        INSERT INTO choice(question, name) VALUES(?, ?)
        ON CONFLICT DO UPDATE SET weight = weight + 1
        """, question, choice)
    }
  }

  /// Changes all rows with one statement: each of them is reported.
  static func makeEven(in group: AppGroup) async throws {
    try await group.choices().write { choices in
      try choices.run("UPDATE choice SET weight = 1")
    }
  }
}

/// A user error.
struct Misuse: Error, CustomStringConvertible {
  let description: String
}
