// Specifies the settings of the relay, and what is said of wrong ones.
import Foundation
import Glibc
import Testing

@Suite(.bounded) struct RelaySettingsTests {
  private static let realm = ["--realm", "home", "--broker", "mqtt://localhost", "--share", "a."]

  @Test(
    arguments: [
      ([], "cannot be read: No such file"),
      (["--realm", "home"], "realm home has no broker"),
      (["--share", "a."], "share must follow realm"),
      (["--a\nb"], "a b is not a setting"),
      (["--realm", "home", "--broker", "http://a"], "http://a is not a broker"),
      (["--realm", "home", "--broker", "mqtt://me:pw@a"], "must not contain a user name"),
      (["--realm", "home", "--broker", "mqtt//me:pw@a"], "…@a is not a broker"),
      (["mqtt://me:pw@a"], "not an option: …@a"),
      (["--mqtt://me:pw@a"], "…@a is not a setting"),
      (["--config", "/"], "/ is not a file"),
      (["--config", "/dev/zero"], "/dev/zero is not a file"),
      (realm + ["--credentials", "/dev/zero"], "/dev/zero can be read by others"),
      (["--realm", "home", "--broker", "mqtt://a:0", "--share", "b"], "host or port is invalid"),
      (["--realm", "home", "--broker", "mqtt://a"], "shares nothing"),
      (realm + ["--share", "self."], "never leave a machine"),
      (realm + ["--share", "com.apple.system.power"], "never leave a machine"),
      (realm + ["--send-only", "--receive-only"], "both receive-only and send-only"),
      (realm + ["--send-only=yes"], "send-only takes no value"),
      (realm + ["--share"], "--share needs a value"),
      (realm + ["--nonsense"], "nonsense is not a setting"),
      (realm + ["--keep-alive", "1"], "keep-alive must be 5 to 3600"),
      (realm + ["--ca", "/dev/null"], "its broker is not mqtts://"),
      (realm + ["--certificate", "/dev/null"], "both certificate and key"),
      (realm + ["--credentials", "/nonexistent"], "/nonexistent cannot be read"),
      (realm + ["--config", "/dev/null"], "--config cannot be combined with"),
      (realm + ["--realm", "home"], "described twice"),
      (
        realm + [
          "--share-group", "g", "--realm", "work", "--broker", "mqtt://a", "--share-group", "g",
        ], "realms home and work both share the group g"
      ),
    ] as [([String], String)])
  func aMistakeIsSaidInASentence(_ arguments: [String], _ text: String) async throws {
    let outcome = try await Session().run(["--check"] + arguments)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(text), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(!outcome.errors.contains("pw"))
  }

  @Test func aFileThatIsNoTextIsRefused() async throws {
    let session = try Session()
    let file = try session.write("realm = home\nbroker = mqtt://a\0b\nshare = a.\n", to: "conf")
    let outcome = try await session.run(["--check", "--config", file])
    #expect(outcome.status == 1 && outcome.errors.contains("\(file) contains a NUL"))
    let secret = try session.credentials("me", "se\0cret")
    let other = try await session.run(["--check"] + Self.realm + ["--credentials", secret])
    #expect(other.status == 1 && other.errors.contains("\(secret) contains a NUL"))
  }

  @Test func theFileHasTheSameKeys() async throws {
    let session = try Session()
    let file = try session.write(
      """
      # two realms
      realm = home
      broker = mqtt://localhost:1884
      share = com.example.
      receive-only

      realm = work
      broker = mqtts://broker.example
      share-group = org.example.lights
      keep-alive = 30
      """, to: "config/notifyrelay.conf")
    let outcome = try await session.run(["--check"])
    #expect(outcome.status == 0 && outcome.output.split(separator: "\n").count == 2, "\(outcome)")
    #expect(try await session.run(["--check", "--config", file]).status == 0)
    let wrong = try session.write("realm = a\nnonsense = 1\n", to: "config/wrong.conf")
    #expect(
      try await session.run(["--check", "--config", wrong]).errors.contains("line 2 of \(wrong)"))
  }

  @Test func linesMayEndAsOnOtherSystems() async throws {
    let session = try Session()
    let secret = try session.write("user = me\r\npassword = secret\r\n", to: "credentials")
    try #require(chmod(secret, 0o600) == 0)
    let realm = "realm = home\r\nbroker = mqtt://localhost\r\ncredentials = \(secret)\r\n"
    let file = try session.write(realm + "share = a.\r\n\r\n", to: "config/file.conf")
    let outcome = try await session.run(["--check", "--config", file])
    #expect(outcome.status == 0, "\(outcome)")
    try (realm + "nonsense").write(toFile: file, atomically: true, encoding: .utf8)
    #expect(
      try await session.run(["--check", "--config", file]).errors.contains("line 4 of \(file)"))
  }

  @Test func credentialsThatOthersCanReadAreRefused() async throws {
    let session = try Session()
    let file = try session.credentials("me", "secret")
    #expect(try await session.run(["--check", "--credentials", file] + []).status == 1)
    #expect(try await session.run(["--check"] + Self.realm + ["--credentials", file]).status == 0)
    chmod(file, 0o640)
    let outcome = try await session.run(["--check"] + Self.realm + ["--credentials", file])
    #expect(outcome.errors.contains("can be read by others: run chmod 600 on it"))
    let distant = ["--realm", "home", "--broker", "mqtt://broker.example", "--share", "a."]
    chmod(file, 0o600)
    let open = try await session.run(["--check"] + distant + ["--credentials", file])
    #expect(open.errors.contains("would not be encrypted"))
  }

  @Test func aKeyThatOthersCanReadIsRefused() async throws {
    let session = try Session()
    let key = try session.write("a key", to: "client.key")
    let realm = [
      "--realm", "home", "--broker", "mqtts://localhost", "--share", "a.", "--certificate",
      "/dev/null", "--key", key,
    ]
    for mode in [0o640, 0o604] as [mode_t] {
      try #require(chmod(key, mode) == 0)
      let outcome = try await session.run(["--check"] + realm)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("\(key) can be read by others: run chmod 600 on it"))
    }
    try #require(chmod(key, 0o600) == 0)
    #expect(try await session.run(["--check"] + realm).status == 0)
  }

  @Test func stateOfAnotherVersionIsRefused() async throws {
    let session = try Session()
    let state = try session.write("", to: "state/notifyrelay/state.sqlite")
    try ForeignProgram.run("PRAGMA user_version = 99", on: state)
    try await session.start(Self.realm, isOnline: false)
    let outcome = await session.outcome()
    #expect(outcome?.status == 1)
    #expect(outcome?.errors.contains("\(state) was written by another version") == true)
  }

  /// A service manager starts the relay again, since the disk may have been full, for example.
  @Test(arguments: ["lock", "origin", "state.sqlite"])
  func aFileThatCannotBeUsedIsNotAWrongSetting(_ file: String) async throws {
    let session = try Session()
    let inside = try session.write("", to: "state/notifyrelay/\(file)/inside")
    let outcome = try await session.run(Self.realm)
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("\(inside.dropLast(7)) cannot be "), "\(outcome.errors)")
  }

  @Test func theStateMayBeBehindASymbolicLink() async throws {
    let (broker, session) = (try TestBroker(), try Session())
    try await broker.start()
    try session.moveStateBehindALink()
    try await session.start(broker.realm())
    #expect(await session.end()?.status == 0)
  }

  @Test func anOriginIsDrawnOnce() async throws {
    let session = try Session()
    let first = try await session.run(["--origin"])
    #expect(first.output.count == 17 && first.status == 0)
    #expect(try await session.run(["--origin"]) == first)
    let status = try await session.run(["--status"])
    #expect(status.status == 2 && status.errors.contains("no relay of this user is running"))
  }
}
