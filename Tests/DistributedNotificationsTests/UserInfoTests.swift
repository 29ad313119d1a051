// Specifies what a user info may carry.
import DistributedNotifications

@Suite(.bounded)
struct UserInfoTests {
  private let stage: DistributedStage

  init() async throws { stage = try await DistributedStage(.usual) }

  /// Posts a user info, and returns what has come.
  private func send(
    _ userInfo: [AnyHashable: Any]?, on stage: DistributedStage
  ) async throws -> [AnyHashable: Any]? {
    var iterator = try stage.center.notifications(named: .changed).makeAsyncIterator()
    try stage.poster.post(.changed, userInfo: userInfo)
    return try #require(await iterator.next()).userInfo
  }

  @Test func valuesKeepTheirTypes() async throws {
    let sent: [String: Any] = [
      "string": "Grüße", "empty": "", "zero": 0, "least": Int.min, "greatest": Int64.max,
      "larger": UInt64.max, "real": 1.5, "infinite": -Double.infinity,
      "date": Date(timeIntervalSince1970: 1_234_567_890.123456), "data": Data([0, 255]),
      // Foundation counts from 2001, so that seconds since 1970 are not exact near 1970.
      "dates": (1...200).map { Date(timeIntervalSince1970: Double(1_000_003 * $0) / 1_000_000) },
      "none": Data(), "array": [1, "a", [true]] as [Any], "no values": [Any](),
      "dictionary": ["k": ["l": 2]], "no keys": [String: Any](), "Schlüssel 😀": 1,
    ]
    let seen = try #require(await send(sent, on: stage))
    #expect(NSDictionary(dictionary: seen) == NSDictionary(dictionary: sent))
    let kinds = try #require(
      await send(
        ["true": NSNumber(value: true), "false": false, "one": 1, "in": [true]], on: stage))
    #expect(kinds["true"] is Bool && kinds["true"] as? Bool == true)
    #expect(kinds["false"] is Bool && kinds["false"] as? Bool == false)
    #expect(!(kinds["one"] is Bool) && (kinds["in"] as? [Any])?.first is Bool)
  }

  @Test func classesOfFoundationAreValues() async throws {
    let seen = try #require(
      await send(
        [
          "string": NSString("s"), "small": Int8(-1), "short": UInt16.max, "long": Int32.min,
          "float": Float(0.5), "larger": NSNumber(value: UInt64.max), "real": NSNumber(value: 0.5),
          "date": NSDate(timeIntervalSince1970: 1), "data": NSData(data: Data([1])),
          "array": NSArray(array: [1, NSString("a")]), "optional": Optional("o") as Any,
          "dictionary": NSDictionary(dictionary: ["k": 1]), NSString("key"): 1,
        ], on: stage))
    let expected: [String: Any] = [
      "string": "s", "small": -1, "short": 65_535, "long": Int(Int32.min), "float": 0.5,
      "larger": UInt64.max, "real": 0.5, "date": Date(timeIntervalSince1970: 1),
      "data": Data([1]), "array": [1, "a"] as [Any], "optional": "o", "dictionary": ["k": 1],
      "key": 1,
    ]
    #expect(NSDictionary(dictionary: seen) == NSDictionary(dictionary: expected))
  }

  @Test func noUserInfoAndAnEmptyOneDiffer() async throws {
    #expect(try await send(nil, on: stage) == nil)
    #expect(try await send([:], on: stage)?.isEmpty == true)
    #expect((try await send(["nan": Double.nan], on: stage)?["nan"] as? Double)?.isNaN == true)
  }

  @Test func manyKeysAndDeepValuesArrive() async throws {
    let many = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("key \($0)", $0) })
    #expect(try await send(many, on: stage) as? [String: Int] == many)
    let seen = try #require(try await send(nested(20), on: stage))
    #expect(NSDictionary(dictionary: seen) == NSDictionary(dictionary: nested(20)))
  }

  @Test func valuesOutsideAPropertyListAreRefusedWithTheirPath() async throws {
    var iterator = try stage.center.notifications(named: .changed).makeAsyncIterator()
    let url = URL(fileURLWithPath: "/tmp")
    let refusals: [([AnyHashable: Any], String, String)] = [
      (["a": url], #"userInfo["a"]"#, "URL"),
      (["a": ["b": [1, NSNull()] as [Any]]], #"userInfo["a"]["b"][1]"#, "NSNull"),
      (["a": { () -> Void in }], #"userInfo["a"]"#, "() -> ()"),
      ([5: "a"], "userInfo has a key that", "Int"),
      (["a": [5: "b"]], #"userInfo["a"] has a key that"#, "Int"),
      (["a": Set([1])], #"userInfo["a"]"#, "Set<Int>"),
      (["a": Optional<String>.none as Any], #"userInfo["a"]"#, "Optional<String>"),
      (["a": Date(timeIntervalSince1970: .infinity)], #"userInfo["a"]"#, "Date"),
    ]
    for (userInfo, path, type) in refusals {
      #expect(throws: DistributedNotificationError.notAPropertyList(path: path, type: type)) {
        try stage.poster.post(.changed, userInfo: userInfo)
      }
    }
    try stage.poster.post(.changed, userInfo: ["fine": true])
    #expect(await iterator.next()?.userInfo as? [String: Bool] == ["fine": true])
  }

  @Test func anOversizedUserInfoIsRefusedAndTheConnectionSurvives() async throws {
    var iterator = try stage.center.notifications(named: .changed).makeAsyncIterator()
    let tooLarge: [[AnyHashable: Any]] = [
      ["data": Data(count: 65 << 20)], nested(21), nested(1000),
      ["values": Array(repeating: 0, count: 65_536)],
    ]
    for userInfo in tooLarge {
      #expect(throws: DistributedNotificationError.failed(.tooLarge)) {
        try stage.poster.post(.changed, userInfo: userInfo)
      }
    }
    for userInfo in [["a\0b": 1], ["a": "b\0c"], ["a": "\u{FFFE}"]] as [[AnyHashable: Any]] {
      #expect(throws: DistributedNotificationError.failed(.invalidArgument)) {
        try stage.poster.post(.changed, userInfo: userInfo)
      }
    }
    let large = Data(repeating: 7, count: 15 << 20)
    try stage.poster.post(.changed, userInfo: ["data": large])
    #expect(await iterator.next()?.userInfo?["data"] as? Data == large)
    #expect(stage.poster.isOnBus)
  }

  /// A dictionary of so many containers, one inside the other.
  private func nested(_ depth: Int) -> [String: Any] {
    depth == 1 ? ["end": 1] : ["next": nested(depth - 1)]
  }
}
