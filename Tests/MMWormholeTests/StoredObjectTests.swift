// Specifies how objects are stored, and what comes back.
import MMWormhole
import MailboxKit
import Wormhole

@Suite(.bounded)
struct StoredObjectTests {
  private let temporary: TemporaryGroup
  private let wormhole: MMWormhole

  init() throws {
    temporary = try TemporaryGroup()
    wormhole = MMWormhole(group: temporary.group, optionalDirectory: "wormhole")
  }

  /// An object with the encoding that is used for it.
  struct Sample: Sendable, CustomTestStringConvertible {
    let codec: String
    let make: @Sendable () -> any NSCoding

    init(_ codec: String, _ make: @escaping @Sendable () -> any NSCoding) {
      (self.codec, self.make) = (codec, make)
    }

    var testDescription: String { "\(codec) \(make())" }
  }

  static let samples: [Sample] = [
    Sample("json") { "text \u{0} 🎺" as NSString },
    Sample("json") { NSNumber(value: true) },
    Sample("json") { NSNumber(value: 1) },
    Sample("json") { NSNumber(value: Int8(1)) },
    Sample("json") { NSNumber(value: Int64.min) },
    Sample("json") { NSNumber(value: UInt64.max) },
    Sample("json") { NSNumber(value: -0.1) },
    Sample("json") { NSNull() },
    Sample("json") { ["a": [1, true, "x", NSNull(), ["b": 1.5]], "$class": "x"] as NSDictionary },
    Sample("json") { NSMutableArray(array: [NSMutableString(string: "m")]) },
    Sample("raw") { Data([0, 255]) as NSData },
    Sample("plist") { Date(timeIntervalSinceReferenceDate: 0.125) as NSDate },
    Sample("plist") { [Data([1]), Date.distantPast, "$class", 1, true] as NSArray },
    Sample("plist") { ["$class": Data([1])] as NSDictionary },
    Sample("plist") { NSNumber(value: -Double.infinity) },
    Sample("archive") { [NSNull(), Data()] as NSArray },
    Sample("archive") { [1: "one", "two": 2] as NSDictionary },
    Sample("archive") { NSSet(array: [1, "x"]) },
    Sample("archive") { URL(filePath: "/a b") as NSURL },
    Sample("archive") { NSUUID() },
    Sample("archive") { ["$class": NSNull(), "d": Data()] as NSDictionary },
  ]

  @Test(arguments: samples)
  func anObjectComesBackEqual(_ sample: Sample) throws {
    let object = sample.make()
    wormhole.passMessageObject(object, identifier: "x")
    let found = try #require(wormhole.message(withIdentifier: "x"))
    #expect((found as? NSObject) == (object as? NSObject), "\(found)")
    #expect(found is any NSCoding)
    #expect(try stored().codec == sample.codec)
  }

  @Test func trueAndOneStayWhatTheyAre() throws {
    for object in [[true, 1, NSSet()] as NSArray, [1, true, Date()] as NSArray, [true, 1]] {
      wormhole.passMessageObject(object, identifier: "x")
      let found = try #require(wormhole.message(withIdentifier: "x") as? [Any])
      for (original, copy) in zip(object, found) where original is NSNumber {
        #expect("\(original)" == "\(copy)")
      }
    }
  }

  @Test func aDecimalNumberIsANumber() throws {
    let price = NSDecimalNumber(string: "12.10")
    wormhole.passMessageObject(price, identifier: "x")
    #expect(wormhole.message(withIdentifier: "x") as? Double == 12.1)
    for other in [Data(), NSSet()] as [Any] {
      wormhole.passMessageObject([price, other] as NSArray, identifier: "x")
      #expect((wormhole.message(withIdentifier: "x") as? [Any])?.first as? Double == 12.1)
    }
  }

  @Test func anObjectOfASharedModuleComesBack() throws {
    let last = Reminder(title: "sleep", count: -1, isDone: false)
    let reminder = Reminder(title: "eat", count: .max, isDone: true, next: last)
    wormhole.passMessageObject(reminder, identifier: "x")
    let found = wormhole.message(withIdentifier: "x") as? Reminder
    #expect(found?.description == reminder.description)
    #expect(try stored().type == "Reminder")
    let list = ["list": [reminder, last], "date": Date()] as NSDictionary
    wormhole.passMessageObject(list, identifier: "x")
    let members = try #require(wormhole.message(withIdentifier: "x") as? [String: Any])
    #expect((members["list"] as? [Reminder])?.map(\.title) == ["eat", "sleep"])
  }

  private func stored() throws -> StoredValue {
    let record = try temporary.group.store(named: "wormhole").newest(of: "x")
    guard case .value(let value) = record?.content else { throw CocoaError(.coderValueNotFound) }
    return value
  }
}
