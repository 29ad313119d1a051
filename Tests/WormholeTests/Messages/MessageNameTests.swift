// Specifies what a name says about its messages.
@testable import Wormhole

@Suite(.bounded)
struct MessageNameTests {
  private let site: Site

  init() throws { site = try Site() }

  private func read(
    codec: MessageCodec? = nil, type: String? = nil, version: UInt32 = 1
  ) throws -> Int? {
    try site.hole.blocking.message(
      MessageName<Int>("name", codec: codec, type: type, version: version))
  }

  @Test func namesAreComparedByTheirBytes() {
    let (composed, decomposed): (MessageName<Int>, MessageName<Int>) = ("caf\u{e9}", "cafe\u{301}")
    #expect(composed != decomposed)
    #expect(composed == MessageName(rawValue: composed.rawValue))
    #expect(Set([composed, decomposed, composed]).count == 2)
  }

  @Test func aValueIsReadOnlyAsWhatItWasPassedAs() throws {
    try site.hole.blocking.pass(7, to: MessageName<Int>("name"))
    #expect(try read() == 7)
    let codec = expect(.codecMismatch) { try read(codec: .propertyList) }
    #expect(codec?.found == "json" && codec?.expected == "plist")
    let type = expect(.typeMismatch) { try read(type: "Other") }
    #expect(type?.found == "Int" && type?.expected == "Other")
    let version = expect(.versionMismatch) { try read(version: 2) }
    #expect(version?.found == "1" && version?.expected == "2")
  }

  @Test func rawBytesAreDataAndNothingElse() throws {
    let name = MessageName<Int>("name", codec: .raw)
    #expect(throws: WormholeError.encoding) { try site.hole.blocking.pass(7, to: name) }
    let value = StoredValue(codec: "raw", data: Data([7]))
    try site.store.pass(RecordDraft(.value(value)), to: "name")
    let error = expect(.decoding) { try read(codec: .raw) }
    #expect(error?.reason == "name: raw bytes are Data, not Int")
  }

  @Test func aPropertyListWithoutAValueIsAnError() throws {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    let value = StoredValue(codec: "plist", data: try encoder.encode([Int]()))
    try site.store.pass(RecordDraft(.value(value)), to: "name")
    let error = expect(.decoding) { try read(codec: .propertyList) }
    #expect(error?.reason == "name: the property list is empty")
  }

  /// Another listener has delivered messages since the reader was made.
  @Test func aReaderThatFollowsAnotherBeginsWithTheNewestMessage() throws {
    let store = site.store
    for number in 1...3 { try site.hole.blocking.pass(number, to: .number) }
    let reader = try MessageReader(.number, in: store, from: .all, starting: .last)
    for number in 4...5 { try site.hole.blocking.pass(number, to: .number) }
    let position = StoredPosition(number: 5, identity: reader.position.identity)
    var following = reader.following(position)
    #expect(following.position.number == 5)
    let pages = try (1...2).map { _ in try following.read(within: nil).elements }
    #expect(pages.map { $0.compactMap(\.element?.value) } == [[5], []])
  }
}
