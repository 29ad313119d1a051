// Specifies how a relay identifies itself, and what it says when the broker does not let it.
import DarwinNotify
import Foundation
import Glibc
import Testing
import Wormhole

@Suite(.bounded, .enabled(if: TestBroker.isInstalled, "mosquitto is not installed"))
struct RelaySecurityTests {
  /// A broker that asks for TLS and a certificate.
  private static let secure = """
    allow_anonymous true
    cafile DIRECTORY/ca.crt
    certfile DIRECTORY/server.crt
    keyfile DIRECTORY/server.key
    require_certificate true
    """

  @Test func certificatesIdentifyBothSides() async throws {
    let broker = try TestBroker(Self.secure)
    try await broker.makeCertificates()
    try await broker.start()
    let realm =
      [
        "--realm", "home", "--broker", "mqtts://localhost:\(broker.port)", "--share",
        "com.example.",
      ]
    let (here, there) = (try Session(), try Session())
    for session in [here, there] {
      try await session.start(realm + broker.certificateSettings)
    }
    await eventually { await there.status()?.realms.first?.peers.first?.state == "online" }
    let heard = try there.observe("com.example.light")
    try here.center.post("com.example.light")
    await heard.wait(for: 1)
  }

  @Test func aBrokerThatIsNotTrustedIsNamed() async throws {
    let broker = try TestBroker(Self.secure)
    try await broker.makeCertificates()
    try await broker.start()
    let session = try Session()
    let url = "mqtts://localhost:\(broker.port)"
    try await session.start(
      ["--realm", "home", "--broker", url, "--share", "com.example."], isOnline: false)
    await eventually { session.relay?.errors.contains("is not trusted") == true }
    await session.end()
    // The certificate is for localhost alone.
    try await session.start(
      [
        "--realm", "home", "--broker", "mqtts://127.0.0.2:\(broker.port)", "--share",
        "com.example.",
      ]
        + broker.certificateSettings, isOnline: false)
    await eventually {
      session.relay?.errors.contains("is not for 127.0.0.2") == true
        || session.relay?.errors.contains("refuses connections") == true
    }
  }

  @Test func problemsWithTheBrokerAreReported() async throws {
    let broker = try TestBroker(
      """
      allow_anonymous false
      password_file DIRECTORY/passwords
      """)
    try await broker.addUser("here", "secret")
    try await broker.start()
    let session = try Session()
    func says(_ text: String, _ url: String, _ more: [String] = []) async throws {
      let settings = ["--realm", "home", "--broker", url, "--share", "com.example."]
      try await session.start(settings + more, isOnline: false)
      await eventually("\(text) is not said: \(session.relay?.errors ?? "")") {
        session.relay?.errors.contains(text) == true
      }
      await session.end()
    }
    // No server of names is asked for a label that is too long.
    let host = String(repeating: "x", count: 64)
    try await says("\(host) cannot be resolved", "mqtt://\(host)")
    let closed = try ReservedPort()
    try await says("refuses connections", "mqtt://127.0.0.1:\(closed.number)")
    withExtendedLifetime(closed) {}
    let wrong = try session.credentials("here", "wrong")
    try await says("does not permit", broker.url, ["--credentials", wrong])
  }

  @Test func aMessageThatTheBrokerDoesNotTakeIsReported() async throws {
    let broker = try TestBroker("allow_anonymous true\nmax_packet_size 2000")
    let session = try Session()
    try await broker.start()
    try await session.start(broker.realm())
    let value = MessageName<String>("org.example.text")
    try await session.hole().pass(String(repeating: "x", count: 4000), to: value)
    // A name that is found and changes at once may be published twice.
    await eventually { await (session.counts()?.refused ?? 0) > 0 }
    let problem = await session.status()?.realms.first?.problem
    #expect(problem?.hasSuffix("a message is too large for the broker") == true)
    await eventually { session.relay?.errors.contains("/org.example.text/") == true }
    try await session.hole().pass("y", to: value)
    await eventually { await (session.counts()?.sent ?? 0) > 0 }
  }

  @Test func secretsThatCanNoLongerBeUsedAreReportedUntilTheyCan() async throws {
    let broker = try TestBroker()
    let session = try Session()
    let secret = try session.credentials("here", "secret")
    try await broker.start()
    try await session.start(broker.realm() + ["--credentials", secret])
    chmod(secret, 0o644)
    await broker.stop()
    await eventually { session.relay?.errors.contains("\(secret) can be read") == true }
    chmod(secret, 0o600)
    try await broker.start()
    await session.join()
  }

  @Test func anotherRelayWithTheSameOriginIsNotFought() async throws {
    let pair = try await Pair()
    let copy = try Session()
    try copy.copyOrigin(of: pair.here)
    try await copy.start(pair.realm(), isOnline: false)
    let outcome = try #require(await pair.here.outcome())
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("another relay has taken over the session"))
  }

  /// Not every broker says to whom a session has gone.
  @Test func onlyALaterConnectionOfTheSameOriginTakesOver() async throws {
    let broker = try TestBroker()
    let session = try Session()
    try await broker.start()
    try await session.start(broker.realm())
    let origin = try #require(await session.status()?.origin)
    // The session may still have what a process has left that was killed before this one began.
    try await broker.publish("p/\(origin)", "1 1 offline 1 :1.0")
    let heard = try session.observe("com.example.light")
    try await broker.publish("p/00000000000000aa", "1 1 online 1 :1.0")
    try await broker.publish("n/com.example.light/00000000000000aa", "1 2 1 0 0 0")
    await heard.wait(for: 1)
    try await broker.publish("p/\(origin)", "1 1 joining \(Int64.max) :1.0")
    #expect(await session.outcome()?.status == 3)
  }

  @Test func theACLFileConfinesEachOrigin() async throws {
    let broker = try TestBroker(
      """
      allow_anonymous false
      password_file DIRECTORY/passwords
      acl_file DIRECTORY/acl
      """)
    let (here, there) = (try Session(), try Session())
    try await broker.addUser("here", "secret")
    try await broker.addUser("there", "secret")
    let origins = [
      "ORIGIN-OF-LAPTOP": String(try await here.run(["--origin"]).output.dropLast()),
      "ORIGIN-OF-TOWER": String(try await there.run(["--origin"]).output.dropLast()),
      "user laptop": "user here", "user tower": "user there",
    ]
    var acl = try String(contentsOfFile: Self.aclFile, encoding: .utf8)
    for (word, value) in origins { acl = acl.replacing(word, with: value) }
    try acl.write(toFile: "\(broker.directory)/acl", atomically: true, encoding: .utf8)
    try await broker.start()
    let realm = ["--realm", "home", "--broker", broker.url, "--share", "com.example."]
    let secret = try here.credentials("here", "secret")
    try await here.start(realm + ["--credentials", secret])
    try await there.start(realm + ["--credentials", try there.credentials("there", "secret")])
    await eventually { await there.status()?.realms.first?.peers.first?.state == "online" }
    let heard = try there.observe("com.example.light")
    try here.center.post("com.example.light")
    await heard.wait(for: 1)
    // The user of one machine cannot speak for the other.
    let other = try Session()
    try await other.start(realm + ["--credentials", secret], isOnline: false)
    await eventually { other.relay?.errors.contains("does not permit") == true }
  }

  private static let aclFile = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../docs/relay-mosquitto.acl").path
}
