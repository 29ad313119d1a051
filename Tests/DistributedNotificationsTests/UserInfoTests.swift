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
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
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

  @Test func containersOfFoundationAreValues() async throws {
    let seen = try #require(
      await send(
        [
          "array": NSArray(array: [1, NSString("a")]), NSString("key"): 1,
          "dictionary": NSDictionary(dictionary: ["k": 1]),
        ], on: stage))
    let expected: [String: Any] = ["array": [1, "a"] as [Any], "dictionary": ["k": 1], "key": 1]
    #expect(NSDictionary(dictionary: seen) == NSDictionary(dictionary: expected))
  }

  /// Values that Apple's Foundation bridges to the classes of a property list, and what arrives.
  private static var bridged: [(sent: Any, seen: any Sendable)] {
    [
      (Int.min, Int.min), (Int16(300), 300), (Int32.min, Int(Int32.min)), (Int64.max, Int.max),
      (UInt8.max, 255), (UInt16.max, 65_535), (UInt32.max, 4_294_967_295), (UInt(7), 7),
      (UInt64(5), 5), (UInt64.max, UInt64.max), (UInt.max, UInt64.max), (CChar(65), 65),
      (Float(0.5), 0.5), (2.0, 2.0), (CGFloat(2.5), 2.5), (CGFloat(3), 3.0),
      (Decimal(string: "1.25") as Any, 1.25), (NSDecimalNumber(value: 4), 4.0),
      (true, true), (false, false), (NSNumber(value: true), true), (NSNumber(value: false), false),
      (NSNumber(value: Int8(100)), 100), (NSNumber(value: UInt8(200)), 200),
      (NSNumber(value: Float(0.5)), 0.5), (NSNumber(value: UInt64.max), UInt64.max),
      ("s", "s"), (NSString("s"), "s"), (NSMutableString(string: "s"), "s"),
      (Notification.Name("n"), "n"), (FileAttributeType.typeRegular, "NSFileTypeRegular"),
      (Data([1]), Data([1])), (NSData(data: Data([1])), Data([1])),
      (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 1)),
      (NSDate(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 1)),
    ]
  }

  @Test func everyNumberAndBridgedTypeArrivesWhereverItStands() async throws {
    let values = Self.bridged + (Int8.min...Int8.max).map { (sent: $0, seen: Int($0)) }
    let sent = values.map(\.sent)
    let keys = sent.indices.map { "key \($0)" }
    let seen = try #require(
      await send(
        [
          "array": sent, "optionals": sent.map { Optional($0) as Any },
          "objects": NSArray(array: sent),
          "dictionary": Dictionary(uniqueKeysWithValues: zip(keys, sent)),
          "hashable": sent.compactMap { ($0 as? any Hashable).map { AnyHashable($0) } },
        ], on: stage))
    let dictionary = try #require(seen["dictionary"] as? [String: Any])
    let arrays = try ["array", "optionals", "objects", "hashable"].map {
      try #require(seen[$0] as? [Any])
    }
    for (index, value) in values.enumerated() {
      for found in try arrays.map({ $0[index] }) + [#require(dictionary[keys[index]])] {
        #expect("\(type(of: found)) \(found)" == "\(type(of: value.seen)) \(value.seen)")
      }
    }
  }

  @Test func namesOfFoundationAreKeys() async throws {
    let userInfo: [AnyHashable: Any] = [Notification.Name("a"): ["b": [FileAttributeKey.size: 1]]]
    let seen = try #require(await send(userInfo, on: stage))
    #expect(seen as? [String: [String: [String: Int]]] == ["a": ["b": ["NSFileSize": 1]]])
  }

  @Test func textThatCannotBeSentIsRefusedWithItsPath() throws {
    let refusals: [([AnyHashable: Any], String)] = [
      (["a\0b": 1], #"userInfo has a key, "a\0b", that contains"#),
      (["a": ["k\u{1FFFE}": 1]], "userInfo[\"a\"] has a key, \"k\u{1FFFE}\", that contains"),
      (["a": "b\0c"], #"userInfo["a"] contains"#),
      (["a": [1, ["b": "\u{1FFFE}"]] as [Any]], #"userInfo["a"][1]["b"] contains"#),
      (["a": Notification.Name("\0")], #"userInfo["a"] contains"#),
    ]
    for (userInfo, sentence) in refusals {
      let error = #expect(throws: DistributedNotificationError.self) {
        try stage.poster.post(.changed, userInfo: userInfo)
      }
      #expect(error == .failed(.invalidArgument))
      #expect(error?.description == sentence + " a NUL or a Unicode noncharacter")
    }
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
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
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
      let error = #expect(throws: DistributedNotificationError.self) {
        try stage.poster.post(.changed, userInfo: userInfo)
      }
      #expect(error == .notAPropertyList && error?.path == path && error?.type == type)
    }
    try stage.poster.post(.changed, userInfo: ["fine": true])
    #expect(await iterator.next()?.userInfo as? [String: Bool] == ["fine": true])
  }

  @Test func anOversizedUserInfoIsRefusedAndTheConnectionSurvives() async throws {
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
    let tooLarge: [[AnyHashable: Any]] = [
      ["data": Data(count: 65 << 20)], nested(21), nested(1000),
      ["values": Array(repeating: 0, count: 65_536)],
    ]
    for userInfo in tooLarge {
      #expect(throws: DistributedNotificationError.failed(.tooLarge)) {
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
