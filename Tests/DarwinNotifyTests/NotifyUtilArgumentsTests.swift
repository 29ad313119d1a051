// Specifies the command line of notifyutil, byte for byte.
import DarwinNotify
import Testing

@Suite(.timeLimit(.minutes(2)))
struct NotifyUtilArgumentsTests {
  /// A command line with what it comes to. `USAGE` stands for the usage text.
  struct Golden: Sendable, CustomTestStringConvertible {
    let line: [String]
    let outcome: Outcome

    init(_ line: [String], status: Int32 = 0, output: String = "", errors: String = "") {
      self.line = line
      outcome = Outcome(status: status, output: output, errors: errors)
    }

    var testDescription: String { line.joined(separator: " ") }
  }

  private static let noInteger = "value following -s name must be a 64-bit integer\n"

  private static let refusals: [Golden] = [
    Golden([]),
    Golden(["-h"], errors: "USAGE"),
    Golden(["-help"], errors: "USAGE"),
    Golden(["--help"], errors: "USAGE"),
    Golden(["-h", "-x"], errors: "USAGE"),
    Golden(["-p"], status: 1, errors: "name required following -p\nUSAGE"),
    Golden(["-w"], status: 1, errors: "name required following -w\nUSAGE"),
    Golden(["-g"], status: 1, errors: "name required following -g\nUSAGE"),
    Golden(["-s"], status: 1, errors: "name required following -s\nUSAGE"),
    Golden(["-s", "a"], status: 1, errors: "value required following -s name\nUSAGE"),
    Golden(["-1"], status: 1, errors: "name required following -1\nUSAGE"),
    Golden(["-12x"], status: 1, errors: "name required following -12x\nUSAGE"),
    Golden(["-x"], status: 1, errors: "unrecognized option: -x\nUSAGE"),
    Golden(["a"], status: 1, errors: "unrecognized option: a\nUSAGE"),
    Golden(["-"], status: 1, errors: "unrecognized option: -\nUSAGE"),
    Golden([""], status: 1, errors: "unrecognized option: \nUSAGE"),
    Golden(["--lists"], status: 1, errors: "unrecognized option: --lists\nUSAGE"),
    Golden(["-g", "self.a", "-x"], status: 1, errors: "unrecognized option: -x\nUSAGE"),
    Golden(["-z"], status: 1, errors: "timer value must be supplied following -z\nUSAGE"),
    Golden(
      ["-z", "xx"], status: 1, errors: "-z xx is invalid\ntimer value must be an integer\n"),
    Golden(
      ["-z", "5x"], status: 1, errors: "-z 5x is invalid\ntimer value must be an integer\n"),
    Golden(
      ["-z", "-5"], status: 1, errors: "-z -5 is invalid\ntimer value must be an integer\n"),
    Golden(["-z", ""], status: 1, errors: "-z  is invalid\ntimer value must be an integer\n"),
    Golden(
      ["-signal", "USR1"], status: 1,
      errors: "-signal USR1 is invalid\nsignals must be specified as integer values\n"),
    Golden(
      ["-sig", "self.a"], status: 1,
      errors: "-signal self.a is invalid\nsignals must be specified as integer values\n"),
    Golden(
      ["-port", "-w", "a"], status: 1,
      errors: """
        -port is not possible: Linux has no Mach ports
        use -dispatch, -file, -signal, -check or -plain

        """),
    Golden(["--bus"], status: 1, errors: "address required following --bus\nUSAGE"),
    Golden(
      ["--bus", "", "-g", "self.a"], status: 1,
      errors: "address required following --bus\nUSAGE"),
    Golden(["--version"], output: "notifyutil 1.0.0\n"),
    Golden(["-s", "a", "x", "-h"], errors: noInteger + "USAGE"),
    Golden(["-h", "-s", "a", "x"], errors: "USAGE"),
    Golden(["-s", "a", "x", "--version"], output: "notifyutil 1.0.0\n", errors: noInteger),
    Golden(
      ["-s", "a", "x", "-p"], status: 1, errors: noInteger + "name required following -p\nUSAGE"),
  ]

  /// Names that begin with `self.` need no bus.
  private static let runs: [Golden] = [
    Golden(["-z", "a5", "-q", "-v", "-M", "-R", "--json", "-file", "-check"]),
    Golden(["-g", "self.a"], output: "self.a 0\n"),
    Golden(["-q", "-g", "self.a"], output: "self.a 0\n"),
    Golden(["-g", ""], output: ": Failed with code 1\n"),
    Golden(["-q", "-p", ""], output: ": Failed with code 1\n"),
    Golden(["-w", ""], output: ": Failed with code 1\n"),
    Golden(["-s", "", "1"], output: ": Failed with code 1\n"),
    Golden(["-signal", "99", "-w", "self.a"], output: "self.a: Failed with code 5\n"),
    Golden(["-signal", "9", "-w", "self.a"], output: "self.a: Failed with code 5\n"),
    Golden(
      ["-signal", "19", "-1", "self.a", "-sig", "12", "-1", "self.b", "-p", "self.b"],
      output: "self.a: Failed with code 5\nSIGNAL 12\nself.b\n"),
    Golden(["-s", "self.a", "5", "-g", "self.a"], output: "self.a 0\n"),
    Golden(["-1", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(["-0", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(["-1", "self.a", "-q", "-p", "self.a"]),
    Golden(
      ["-2abc", "self.a", "-p", "self.a", "-p", "self.a"], output: "self.a\nself.a\n"),
    Golden(
      ["-1", "self.a", "-2", "self.b"]
        + ["-p", "self.a", "-p", "self.b", "-p", "self.a", "-p", "self.b"],
      output: "self.a\nself.b\nself.b\n"),
    Golden(
      ["-1", "self.a", "-s", "self.a", "-1", "-g", "self.a", "-p", "self.a"],
      output: "self.a 18446744073709551615\nself.a\n"),
    Golden(
      ["-1", "self.a", "-s", "self.a", "9223372036854775808", "-g", "self.a", "-p", "self.a"],
      output: "self.a 9223372036854775807\nself.a\n"),
    Golden(
      ["-1", "self.a", "-s", "self.a", "7", "-s", "self.a", "x", "-g", "self.a", "-p", "self.a"],
      output: "self.a 0\nself.a\n",
      errors: noInteger),
    Golden(["-file", "-1", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(["-check", "-1", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(["-plain", "-1", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(
      ["-file", "-1", "self.a", "-1", "self.b", "-p", "self.b", "-p", "self.a"],
      output: "self.b\nself.a\n"),
    // Signals of one number merge while they wait: the second one comes later.
    Golden(
      ["-z", "2000", "-signal", "10", "-1", "self.a", "-1", "self.b"]
        + ["-p", "self.b", "-p", "self.a"],
      output: "SIGNAL 10\nself.b\nSIGNAL 10\nself.a\n"),
    Golden(["-signal", "-1", "self.a", "-p", "self.a"], output: "SIGNAL 1\nself.a\n"),
    Golden(["-sig", "31", "-1", "self.a", "-p", "self.a"], output: "SIGNAL 31\nself.a\n"),
    Golden(["-q", "-sig", "17", "-1", "self.a", "-p", "self.a"]),
    Golden(
      ["-z", "2000", "-sig", "12", "-1", "self.a", "-file", "-sig", "-1", "self.b"]
        + ["-p", "self.a", "-p", "self.b"],
      output: "SIGNAL 12\nself.a\nSIGNAL 12\nself.b\n"),
  ]

  @Test(arguments: refusals + runs)
  func comesToWhatIsWritten(golden: Golden) async throws {
    let usage = try await runNotifyUtil(["-h"], on: nil).errors
    var expected = golden.outcome
    expected.errors = expected.errors.replacing("USAGE", with: usage)
    #expect(try await runNotifyUtil(golden.line, on: nil) == expected)
  }

  @Test func explainsEveryOption() async throws {
    let usage = try await runNotifyUtil(["-h"], on: nil).errors
    #expect(usage.hasPrefix("usage: notifyutil [-q] [-v] [-z msec] [-M] [-R]"))
    let options = [
      "-q", "-v", "-z msec", "-M", "-R", "--bus ADDRESS", "--json", "--version", "-h, -help",
      "--help", "-port", "-file", "-check", "-plain", "-dispatch", "-signal [n]", "-sig [n]",
      "-p key", "-w key", "-# key", "-g key", "-s key val", "--list", "--monitor [prefix]",
    ]
    for option in options {
      #expect(usage.contains("\n    ") && usage.contains(option), "\(option)")
    }
    #expect(usage.split(separator: "\n").allSatisfy { $0.utf8.count <= 100 })
  }

  @Test(arguments: ["dispatch", "file", "check", "plain", "signal"])
  func printsEverythingWhenVerbose(type: String) async throws {
    let line = ["-\(type)", "-q", "-v", "-1", "self.a", "-s", "self.a", "7", "-p", "self.a"]
    let outcome = try await runNotifyUtil(line, on: nil)
    let seconds = #/[1-9][0-9]{9}\.[0-9]{3}/#
    let event = outcome.output.replacing(#/^SIGNAL 1\n/#, with: "")
    let fields = event.split(separator: " ", omittingEmptySubsequences: false)
    #expect(outcome.output.hasPrefix("SIGNAL") == (type == "signal"))
    try #require(fields.count == 5, "\(outcome.output)")
    #expect(fields[0].wholeMatch(of: #/\[[1-9][0-9]*\]/#) != nil)
    #expect(fields[1].wholeMatch(of: seconds) != nil)
    #expect(fields[2...] == ["self.a", "7", "\(type)\n"])
  }

  @Test func refusesWordsThatAreNotUTF8() async throws {
    let script = #"exec "$0" -g self.a -p "$(printf 'a\377')""#
    let outcome = try await Program.run(
      "/bin/sh", ["-c", script, Program.path(of: "notifyutil")], on: nil)
    let errors = "notifyutil: an argument is not UTF-8: a\u{FFFD}\n"
    #expect(outcome == Outcome(status: 1, errors: errors))
  }
}
