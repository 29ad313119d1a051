// Specifies what a user info may carry.
import DistributedNotifications

@Suite(.bounded)
struct UserInfoTests {
  /// Posts a user info, and returns what has come.
  private func send(
    _ userInfo: [AnyHashable: Any]?, on stage: DistributedStage
  ) async throws -> [AnyHashable: Any]? {
    var iterator = try stage.center.notifications(named: .changed).makeAsyncIterator()
    try stage.poster.post(.changed, userInfo: userInfo)
    return try #require(await iterator.next()).userInfo
  }

  @Test func valuesKeepTheirTypes() async throws {
    let stage = try await DistributedStage(.usual)
    let date = Date(timeIntervalSince1970: 1_234_567_890.123456)
    let seen = try #require(
      await send(
        [
          "string": "Grüße", "empty": "", "true": true, "false": false, "zero": 0, "one": 1,
          "least": Int.min, "greatest": Int64.max, "larger": UInt64.max, "real": 1.5,
          "infinite": -Double.infinity, "date": date, "data": Data([0, 255]), "none": Data(),
          "array": [1, "a", [true]] as [Any], "no values": [Any](), "dictionary": ["k": ["l": 2]],
          "no keys": [String: Any](), "Schlüssel 😀": 1,
        ], on: stage))
    #expect(seen.count == 19)
    #expect(seen["string"] as? String == "Grüße")
    #expect(seen["empty"] as? String == "")
    #expect(seen["true"] is Bool && seen["true"] as? Bool == true)
    #expect(seen["false"] is Bool && seen["false"] as? Bool == false)
    #expect(!(seen["one"] is Bool) && seen["one"] as? Int == 1 && seen["zero"] as? Int == 0)
    #expect(seen["least"] as? Int == Int.min)
    #expect(seen["greatest"] as? Int == Int.max)
    #expect(seen["larger"] as? UInt64 == UInt64.max)
    #expect(seen["real"] as? Double == 1.5)
    #expect(seen["infinite"] as? Double == -Double.infinity)
    #expect(seen["date"] as? Date == date)
    #expect(seen["data"] as? Data == Data([0, 255]))
    #expect(seen["none"] as? Data == Data())
    let array = try #require(seen["array"] as? [Any])
    #expect(array.count == 3 && array[0] as? Int == 1 && array[1] as? String == "a")
    #expect(array[2] as? [Bool] == [true])
    #expect((seen["no values"] as? [Any])?.isEmpty == true)
    #expect(seen["dictionary"] as? [String: [String: Int]] == ["k": ["l": 2]])
    #expect((seen["no keys"] as? [String: Any])?.isEmpty == true)
    #expect(seen["Schlüssel 😀"] as? Int == 1)
  }

  @Test func classesOfFoundationAreValues() async throws {
    let stage = try await DistributedStage(.usual)
    let seen = try #require(
      await send(
        [
          "string": NSString("s"), "true": NSNumber(value: true), "one": NSNumber(value: 1),
          "small": Int8(-1), "short": UInt16.max, "long": Int32.min, "float": Float(0.5),
          "larger": NSNumber(value: UInt64.max), "real": NSNumber(value: 0.5),
          "date": NSDate(timeIntervalSince1970: 1), "data": NSData(data: Data([1])),
          "array": NSArray(array: [1, NSString("a")]), "optional": Optional("o") as Any,
          "dictionary": NSDictionary(dictionary: ["k": 1]), NSString("key"): 1,
        ], on: stage))
    #expect(seen.count == 15)
    #expect(seen["string"] as? String == "s" && seen["optional"] as? String == "o")
    #expect(seen["true"] is Bool && !(seen["one"] is Bool))
    #expect(seen["one"] as? Int == 1 && seen["small"] as? Int == -1)
    #expect(seen["short"] as? Int == 65535 && seen["long"] as? Int == Int(Int32.min))
    #expect(seen["larger"] as? UInt64 == UInt64.max)
    #expect(seen["float"] as? Double == 0.5 && seen["real"] as? Double == 0.5)
    #expect(seen["date"] as? Date == Date(timeIntervalSince1970: 1))
    #expect(seen["data"] as? Data == Data([1]))
    #expect((seen["array"] as? [Any])?.count == 2)
    #expect(seen["dictionary"] as? [String: Int] == ["k": 1])
    #expect(seen["key"] as? Int == 1)
  }

  @Test func datesKeepTheirMicroseconds() async throws {
    let stage = try await DistributedStage(.usual)
    let dates = (1...200).map {
      // Foundation counts from 2001, so that seconds since 1970 are not exact near 1970.
      Date(timeIntervalSince1970: Double(1_000_003 * $0) / 1_000_000)
    }
    #expect(try await send(["dates": dates], on: stage)?["dates"] as? [Date] == dates)
  }

  @Test func noUserInfoAndAnEmptyOneDiffer() async throws {
    let stage = try await DistributedStage(.usual)
    #expect(try await send(nil, on: stage) == nil)
    #expect(try await send([:], on: stage)?.isEmpty == true)
    #expect((try await send(["nan": Double.nan], on: stage)?["nan"] as? Double)?.isNaN == true)
  }

  @Test func manyKeysAndDeepValuesArrive() async throws {
    let stage = try await DistributedStage(.usual)
    let many = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("key \($0)", $0) })
    #expect(try await send(many, on: stage) as? [String: Int] == many)
    let seen = try #require(try await send(nested(20), on: stage))
    #expect(NSDictionary(dictionary: seen) == NSDictionary(dictionary: nested(20)))
  }

  @Test func valuesOutsideAPropertyListAreRefusedWithTheirPath() async throws {
    let stage = try await DistributedStage(.usual)
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

  @Test func whatIsTooLargeIsRefusedAndTheConnectionLivesOn() async throws {
    let stage = try await DistributedStage(.usual)
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
