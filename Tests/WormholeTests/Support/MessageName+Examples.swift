// Names messages and settings for the tests.
import Wormhole

extension MessageName where Value == Int {
  static var number: Self { "org.example.number" }
  static var other: Self { "org.example.other" }
}

extension MessageName where Value == Data {
  static var bytes: Self { "org.example.bytes" }
}

extension DefaultsKey where Value == Int {
  static var number: Self { DefaultsKey("number", default: 0) }
}

typealias Mail = Log<Wormhole.Message<Int>>

extension Mail {
  /// The contents of the messages, in short.
  var texts: [String] { entries.map { "\($0.content)" } }

  var values: [Int] { entries.compactMap(\.value) }

  /// How many messages were passed while these arrived.
  var total: UInt64 { entries.reduce(0) { $0 + 1 + $1.missed } }
}
