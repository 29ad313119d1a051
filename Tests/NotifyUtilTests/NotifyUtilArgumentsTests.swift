// Specifies the command line of notifyutil, byte for byte.

@Suite(.bounded)
struct NotifyUtilArgumentsTests {
  /// A command line and its result. `USAGE` stands for the usage text.
  struct Golden: Sendable, CustomTestStringConvertible {
    let line: [String]
    let outcome: Outcome

    init(_ line: [String], status: Int32 = 0, output: String = "", errors: String = "") {
      self.line = line
      outcome = Outcome(status: status, output: output, errors: errors)
    }

    var testDescription: String { line.joined(separator: " ") }
  }

  /// A refused command line: one line of error, a hint, and nothing is run.
  private static func mistake(_ line: [String], _ complaint: String) -> Golden {
    let hint = "usage: notifyutil [option ...] command ...  (see notifyutil --help)"
    return Golden(line, status: 1, errors: "notifyutil: \(complaint)\n\(hint)\n")
  }

  private static let help: [Golden] = [
    Golden([], status: 1, errors: "USAGE"),
    Golden(["-h"], errors: "USAGE"),
    Golden(["-help"], errors: "USAGE"),
    Golden(["--help"], errors: "USAGE"),
    Golden(["-h", "-x"], errors: "USAGE"),
    Golden(["--version"], output: "notifyutil 1.0.0\n"),
  ]

  private static let mistakes: [Golden] =
    [
      mistake(["-q"], "no command given"),
      mistake(["-z", "5", "--json", "-file", "-check"], "no command given"),
      mistake(["-p"], "name required following -p"),
      mistake(["-w"], "name required following -w"),
      mistake(["-g"], "name required following -g"),
      mistake(["-s"], "name required following -s"),
      mistake(["-s", "a"], "value required following -s name"),
      mistake(["-1"], "name required following -1"),
      mistake(["-x"], "unrecognized option: -x"),
      mistake(["a"], "unrecognized option: a"),
      mistake(["-"], "unrecognized option: -"),
      mistake([""], "unrecognized option: "),
      mistake(["--lists"], "unrecognized option: --lists"),
      mistake(["-g", "self.a", "-x"], "unrecognized option: -x"),
      mistake(["-z"], "timer value must be supplied following -z"),
      mistake(["--bus"], "address required following --bus"),
      mistake(["--bus", "", "-g", "self.a"], "address required following --bus"),
      mistake(["--bus=", "-g", "self.a"], "address required following --bus"),
      mistake(["--timeout"], "number of seconds required following --timeout"),
      mistake(["-w", "a", "--exec"], "command required following --exec"),
      mistake(["--json=yes", "-g", "self.a"], "--json takes no value"),
      mistake(["--probe", "-g", "self.a"], "--probe needs --doctor"),
      mistake(
        ["--doctor", "a", "5x"], "--doctor a 5x is invalid: a process is a number"),
      mistake(["--doctor", "a", "5", "6"], "unrecognized option: 6"),
      mistake(["--top", "a", "b"], "unrecognized option: b"),
      mistake(["--exec", "true", "-g", "self.a"], "--exec needs -w or -#"),
      mistake(["--ready", "-g", "self.a"], "--ready needs -w, -# or --monitor"),
      mistake(["--object", "o", "-p", "a"], "--object must follow --post-distributed"),
      mistake(["--post-distributed"], "name required following --post-distributed"),
      mistake(["--post-distributed", "a", "--object"], "value required following --object"),
      mistake(
        ["--post-distributed", "a", "-g", "self.a", "--user-info", "{}"],
        "--user-info must follow --post-distributed"),
      mistake(
        ["-port", "-w", "a"],
        "-port is not supported, Linux has no Mach ports: "
          + "use -dispatch, -file, -signal, -check or -plain"),
    ]
    + [
      "5x", "x", "1e3", "0xg", "0x", "", " 5", "--5", "1.0", "٣", "18446744073709551616",
      "-9223372036854775809", "0x10000000000000000",
    ].map {
      mistake(
        ["-g", "self.a", "-s", "self.a", $0],
        "-s name \($0) is invalid: the value must be a 64-bit decimal or 0x number")
    }
    + ["xx", "5x", "a5", "-5", "", "4294967296", "99999999999999999999"].map {
      mistake(["-z", $0], "-z \($0) is invalid: timer value must be an integer")
    }
    + ["USR1", "1x", "self.a", "0", "65", "99999999999999999999"].map {
      mistake(["-sig", $0, "-g", "self.a"], "-signal \($0) is invalid: signal numbers are 1 to 64")
    }
    + ["-0", "-00", "-2abc", "-1.5", "-99999999999999999999"].map {
      mistake(
        ["-g", "self.a", $0, "self.a"],
        "\($0) is invalid: the number of notifications must be positive")
    }
    + ["0", "x", "1s", "-1", ".", "1.", "0x1", "inf", "99999999999"].map {
      mistake(
        ["--timeout", $0, "-g", "self.a"],
        "--timeout \($0) is invalid: it must be a positive number of seconds")
    }
    + ["x", "77", "-1", ""].map {
      mistake(
        ["--ready=\($0)", "-1", "self.a"], "--ready=\($0) is invalid: not an open descriptor")
    }
    + [
      ("", "expected {, at byte 1"), ("[]", "expected {, at byte 1"),
      ("{} {}", "text after the object, at byte 4"), ("{\"a\"}", "expected :, at byte 5"),
      ("{\"a\":null}", "not a property list value, at byte 6"),
      ("{\"a\":01}", "not a property list value, at byte 6"),
      ("{\"a\":", "expected a value, at byte 6"),
      ("{\"a\":[1,}", "not a property list value, at byte 9"),
      ("{\"a\":1e999}", "not a property list value, at byte 6"),
      ("{\"a\":\"b", "unterminated string, at byte 8"),
      ("{\"a\":\"\\x\"}", "invalid escape, at byte 7"),
      ("{\"a\":\"\\ud800\"}", "unpaired surrogate, at byte 14"),
      ("{\"a\\u0000\":1}", "a key contains a NUL, at byte 11"),
      ("{\"a\":\"\\u0000\"}", "invalid argument"),
    ].map {
      mistake(
        ["--post-distributed", "a", "--user-info", $0], "--user-info must be a JSON object: \($1)")
    }

  /// Names that begin with `self.` need no bus.
  private static let runs: [Golden] = [
    Golden(["-g", "self.a"], output: "self.a 0\n"),
    Golden(["-q", "-z", "5", "-v", "-M", "-R", "-g", "self.a"], output: "self.a 0\n"),
    Golden(["--json", "-g", "self.a\""], output: #"{"name":"self.a\"","state":"0"}"# + "\n"),
    Golden(["--bus=none", "-g", "self.a"], output: "self.a 0\n"),
    failure(["-g", ""], #"-g "": \#(invalidName)"#),
    failure(["-q", "-p", ""], #"-p "": \#(invalidName)"#),
    failure(["-w", ""], #"-w "": \#(invalidName)"#),
    failure(["-3", ""], #"-3 "": \#(invalidName)"#),
    failure(["-s", "", "1"], #"-s "": \#(invalidName)"#),
    failure(["-signal", "9", "-w", "self.a"], "-w self.a: this signal cannot be caught"),
    failure(["-signal", "32", "-w", "self.a"], "-w self.a: this signal cannot be caught"),
    failure(
      ["-signal", "19", "-1", "self.a", "-sig", "12", "-1", "self.b", "-p", "self.b"],
      "-1 self.a: this signal cannot be caught", output: "SIGNAL 12\nself.b\n"),
    Golden(["-s", "self.a", "5", "-g", "self.a"], output: "self.a 0\n"),
    Golden(["-1", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(["-1", "self.a", "-q", "-p", "self.a"]),
    Golden(
      ["-02", "self.a", "-p", "self.a", "-p", "self.a"], output: "self.a\nself.a\n"),
    Golden(
      ["-1", "self.a", "-2", "self.b"]
        + ["-p", "self.a", "-p", "self.b", "-p", "self.a", "-p", "self.b"],
      output: "self.a\nself.b\nself.b\n"),
    Golden(
      ["-file", "-1", "self.a", "-1", "self.b", "-p", "self.b", "-p", "self.a"],
      output: "self.b\nself.a\n"),
    // Signals of one number merge while they wait: the second one is sent later.
    Golden(
      ["-z", "2000", "-signal", "10", "-1", "self.a", "-1", "self.b"]
        + ["-p", "self.b", "-p", "self.a"],
      output: "SIGNAL 10\nself.b\nSIGNAL 10\nself.a\n"),
    Golden(["-sig", "30", "-1", "self.a", "-p", "self.a"], output: "SIGNAL 30\nself.a\n"),
    Golden(["-q", "-sig", "17", "-1", "self.a", "-p", "self.a"]),
    Golden(
      ["-z", "2000", "-sig", "12", "-1", "self.a", "-file", "-sig", "-1", "self.b"]
        + ["-p", "self.a", "-p", "self.b"],
      output: "SIGNAL 12\nself.a\nSIGNAL 12\nself.b\n"),
    Golden(["--json", "-q", "-signal", "10", "-1", "self.a", "-p", "self.a"]),
    Golden(
      ["--ready=1", "-g", "self.a", "-1", "self.b", "-g", "self.c", "-p", "self.b"],
      output: "self.a 0\nready\nself.c 0\nself.b\n"),
    Golden(["--ready", "-q", "-1", "self.b", "-p", "self.b"], errors: "ready\n"),
    failure(
      ["--ready=1", "-1", "", "-1", "self.a", "-p", "self.a"], #"-1 "": \#(invalidName)"#,
      output: "self.a\n"),
    Golden(["--timeout", "100", "-1", "self.a", "-p", "self.a"], output: "self.a\n"),
    Golden(["--wait-for-bus", "--bus=none", "-p", "a"]),
    // Of all types only this one is promised every notification.
    Golden(
      ["-q", "-z", "0", "--exec", "echo $NOTIFY_NAME", "-2", "self.a", "-1", "self.c"]
        + ["-p", "self.c", "-p", "self.a", "-p", "self.a"],
      output: "self.c\nself.a\nself.a\n"),
    failure(
      ["-q", "-1", "self.a", "-p", "self.a", "--exec", "exit 3"],
      "--exec: the command exited with status 3"),
    failure(
      ["-q", "-1", "self.a", "-p", "self.a", "--exec", "kill -9 $$"],
      "--exec: the command was killed by signal 9"),
  ]

  private static let invalidName = "the name must be 1 to 511 bytes without a NUL"

  /// A run in which a command fails.
  private static func failure(
    _ line: [String], _ complaint: String, output: String = ""
  ) -> Golden {
    Golden(line, status: 2, output: output, errors: "notifyutil: \(complaint)\n")
  }

  @Test(arguments: [
    ("-1", "18446744073709551615"), ("0", "0"), ("010", "10"), ("7", "7"), ("0xff", "255"),
    ("0XfF", "255"), ("9223372036854775808", "9223372036854775808"),
    ("18446744073709551615", "18446744073709551615"),
    ("0xffffffffffffffff", "18446744073709551615"), ("-0x1", "18446744073709551615"),
    ("-9223372036854775808", "9223372036854775808"),
  ])
  func setsWhatAStateCanHold(value: String, state: String) async throws {
    let line = ["-1", "self.a", "-s", "self.a", value, "-g", "self.a", "-p", "self.a"]
    let outcome = try await runNotifyUtil(line, on: nil)
    #expect(outcome == Outcome(output: "self.a \(state)\nself.a\n"))
  }

  @Test(arguments: help + mistakes + runs)
  func behavesAsSpecified(golden: Golden) async throws {
    var expected = golden.outcome
    if expected.errors == "USAGE" {
      expected.errors = try await runNotifyUtil(["-help"], on: nil).errors
      #expect(expected.errors.hasPrefix("usage: notifyutil [-q] [-v] [-z msec] [-M] [-R]"))
    }
    #expect(try await runNotifyUtil(golden.line, on: nil) == expected)
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
    #expect(outcome == Self.mistake([], "an argument is not UTF-8: a\u{FFFD}").outcome)
  }
}
