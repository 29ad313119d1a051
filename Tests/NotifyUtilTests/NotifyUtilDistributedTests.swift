// Specifies what notifyutil does with distributed notifications.

@Suite(.bounded)
struct NotifyUtilDistributedTests {
  private let userInfo = #"""
    { "title" : "Na\u00efma \ud83d\ude00 \"\\\n", "minutes": 4.5, "rating": -5, "on": true,
      "most": 18446744073709551615, "list": [ 1, [], {} ], "rtl\u202e": "", "large": 1e3 }
    """#
  private let canonical = #"""
    {"large": 1000.0, "list": [1, [], {}], "minutes": 4.5, "most": 18446744073709551615, \#
    "on": true, "rating": -5, "rtl\u202e": "", "title": "Naïma 😀 \"\\\u000a"}
    """#

  @Test func distributedPostsAreMonitored() async throws {
    let bus = try PrivateBus(.usual)
    let monitor = try await startNotifyUtil(["--monitor", "com.example."], on: bus)
    let line = [
      "--post-distributed", "com.example.a", "--object", "the player", "--user-info", userInfo,
      "--post-distributed", "com.example.a", "--post-distributed=com.example.b", "--object=",
    ]
    #expect(try await runNotifyUtil(line, on: bus) == Outcome())
    await monitor.waitForOutput(#"distributed com.example.b from "#)
    let lines = monitor.lines.filter { $0.contains(" distributed ") }
      .map { $0.replacing(#/^.* from .*?: (?=object|number)/#, with: "") }
    #expect(
      lines == [
        #"object "the player", user info \#(canonical), number 1"#, "number 2",
        #"object "", number 1"#,
      ])
  }

  @Test func itIsMonitoredAsJSON() async throws {
    let bus = try PrivateBus(.usual)
    let monitor = try await startNotifyUtil(["--json", "--monitor", "com.example."], on: bus)
    let line = [
      "--post-distributed", "com.example.a", "--object", "x", "--user-info", userInfo,
      "--post-distributed", "com.example.b",
    ]
    #expect(try await runNotifyUtil(line, on: bus) == Outcome())
    await monitor.waitForOutput("com.example.b")
    let posts = try monitor.lines.filter { $0.contains("distributed") }.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    try #require(posts.count == 2)
    #expect(posts[0]["center"] as? String == "distributed" && posts[0]["object"] as? String == "x")
    let seen = try #require(posts[0]["user_info"] as? [String: Any])
    #expect(seen["title"] as? String == "Naïma 😀 \"\\\n" && seen["minutes"] as? Double == 4.5)
    #expect(posts[0]["number"] as? Int == 1 && posts[0]["generation"] is NSNull)
    #expect(posts[1]["object"] is NSNull && posts[1]["user_info"] is NSNull)
  }

  /// Runs one that waits, then posts. Returns the lines of the one that waits.
  private func wait(_ line: [String], posting post: [String], on bus: PrivateBus) async throws
    -> [String]
  {
    let waiter = try await startNotifyUtil(line, on: bus)
    #expect(try await runNotifyUtil(["--post-distributed"] + post, on: bus) == Outcome())
    await waiter.waitForSuccess()
    return waiter.lines.filter { $0 != "ready" }
  }

  @Test func itIsWaitedForLikeTheOthers() async throws {
    let bus = try PrivateBus(.usual)
    let post = ["com.example.a", "--object", "the player", "--user-info", #"{"n": 1}"#]
    #expect(
      try await wait(["--distributed", "-1", "com.example.a"], posting: post, on: bus)
        == ["com.example.a"])
    let hook = #"echo "$NOTIFY_NAME $NOTIFY_OBJECT $NOTIFY_USER_INFO $NOTIFY_STATE.""#
    #expect(
      try await wait(
        ["-q", "--distributed", "--exec", hook, "-1", "com.example.a"], posting: post, on: bus)
        == [#"com.example.a the player {"n": 1} ."#])
    let lines = try await wait(
      ["--json", "--distributed", "-1", "com.example.a"], posting: post, on: bus)
    #expect(lines.count == 1)
    #expect(lines[0].contains(#""object":"the player","user_info":{"n": 1}"#))
    let late = try await runNotifyUtil(
      ["--timeout", "0.1", "--distributed", "-1", "com.example.a"], on: bus)
    #expect(late.status == 124)
  }

  @Test func waitingForItNeedsABus() async throws {
    let outcome = try await runNotifyUtil(
      ["--distributed", "-1", "com.example.a"], on: nil,
      environment: ["DARWIN_NOTIFY_BUS": "none"])
    #expect(outcome.status == 3)
  }

  @Test(arguments: ["", String(repeating: "n", count: 512)])
  func aNameThatIsRefusedIsNamed(name: String) async throws {
    let bus = try PrivateBus(.usual)
    let outcome = try await runNotifyUtil(["--distributed", "-1", name], on: bus)
    #expect(outcome.status == 2)
    #expect(outcome.errors.hasSuffix(": the name must be 1 to 511 bytes without a NUL\n"))
  }

  @Test func aPostThatFailsIsReportedWithItsReason() async throws {
    let deep = String(repeating: "[", count: 20)
    let tooDeep = try await runNotifyUtil(
      ["--post-distributed", "a", "--user-info", "{\"a\":" + deep], on: nil)
    #expect(tooDeep.status == 1)
    #expect(tooDeep.errors.contains("nested too deeply, at byte 25"))
    let tooLong = try await runNotifyUtil(
      ["--post-distributed", String(repeating: "n", count: 512)], on: nil,
      environment: ["DARWIN_NOTIFY_BUS": "none"])
    #expect(tooLong.status == 2)
    #expect(tooLong.errors.hasSuffix(": name too long\n"))
    let noBus = try await runNotifyUtil(
      ["--post-distributed", "com.example.a"], on: nil, environment: ["DARWIN_NOTIFY_BUS": "none"])
    #expect(noBus.status == 3)
    let complaint = "notifyutil: --post-distributed com.example.a: no message bus found"
    #expect(noBus.errors.hasPrefix(complaint))
  }
}
