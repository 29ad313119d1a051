// Specifies values of Swift types.
import DistributedNotifications

@Suite(.bounded)
struct ValueTests {
  struct Song: Codable, Equatable, Sendable {
    var title: String
    var minutes: Double
    var rating: Int?
    var cover = Data()
    var tags: [String] = []
    var played = Date(timeIntervalSince1970: 1)
    var size = UInt64.max
    var nested: [String: [Bool]] = [:]
  }

  @Test func aValueArrivesAsItWasPosted() async throws {
    let stage = try await DistributedStage(.usual)
    let songs = try stage.center.values(of: Song.self, named: .changed, object: "player")
    let naima = Song(
      title: "Naima", minutes: 4, cover: Data([1]), tags: ["a", "b"], nested: ["k": [true]])
    let resolution = Song(title: "Resolution", minutes: 7.5, rating: 5)
    try stage.poster.post(.changed, naima, object: "player")
    try stage.poster.post(.changed, userInfo: ["title": "another"])
    try stage.poster.post(.changed, object: "player", userInfo: ["title": 5])
    try stage.poster.post(.changed, resolution, object: "player")
    var iterator = songs.makeAsyncIterator()
    #expect(await iterator.next() == naima)
    #expect(await iterator.next() == resolution)
  }

  @Test func otherObserversSeeADictionary() async throws {
    let stage = try await DistributedStage(.usual)
    var iterator = stage.center.notifications(named: .changed).makeAsyncIterator()
    try stage.poster.post(.changed, Song(title: "Naima", minutes: 4))
    let userInfo = try #require(await iterator.next()?.userInfo)
    #expect(userInfo["title"] as? String == "Naima")
    #expect(userInfo["minutes"] as? Double == 4)
    #expect(userInfo["rating"] == nil)
    #expect(userInfo["played"] as? Date == Date(timeIntervalSince1970: 1))
    // And the other way round.
    try stage.poster.post(.changed, userInfo: ["number": 1])
    let notification = try #require(await iterator.next())
    #expect(throws: DecodingError.self) { try notification.value(as: Song.self) }
    #expect(try notification.value(as: [String: Int].self) == ["number": 1])
    try stage.poster.post(.changed, userInfo: nil)
    #expect(try await iterator.next()?.value(as: [String: Int].self) == [:])
  }

  @Test func aValueOtherThanADictionaryIsRefused() throws {
    let center = try DistributedNotificationCenter(bus: .noBus)
    let number = #expect(throws: DistributedNotificationError.self) {
      try center.post(.changed, 5)
    }
    let array = #expect(throws: DistributedNotificationError.self) {
      try center.post(.changed, [5])
    }
    #expect(number == .notAPropertyList && array == .notAPropertyList)
    #expect(number?.path == "value" && number?.type == "Int")
    #expect(array?.path == "value" && array?.type == "Array<Int>")
  }
}
