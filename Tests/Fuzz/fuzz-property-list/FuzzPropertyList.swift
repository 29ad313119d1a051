// Decodes property lists as user infos, requests and responses.

@testable internal import DistributedNotifications
internal import DarwinNotify
internal import Delegation
internal import Foundation
@testable internal import RemoteHandlers

private struct Request: RemoteRequest {
  static let kind = "org.example.Fuzz.Request"

  struct Failure: Error, Codable {
    var text: String
    var codes: [Int8]
  }

  indirect enum Tree: Codable, Sendable {
    case leaf(Data)
    case branch([Tree])
  }

  typealias Response = [String: Tree]

  var text: String?
  var number: UInt16?
  var real: Float?
  var dates: [Date]?
  var bytes: [UInt8]?
  var link: URL?
  var amount: Decimal?
  var tree: Tree?
}

/// The rest of an input. At its end, all numbers are 0 and all texts empty.
private struct Input {
  var bytes: ArraySlice<UInt8>

  mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

  mutating func number() -> UInt64 { (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(byte()) } }

  mutating func take() -> [UInt8] {
    let taken = bytes.prefix(Int(byte()))
    bytes = bytes.dropFirst(taken.count)
    return Array(taken)
  }

  mutating func text() -> String {
    String(decoding: take(), as: UTF8.self).replacing("\0", with: "")
  }

  /// One of the keys that the types above have, or any other.
  mutating func key() -> String {
    let known = [
      "value", "text", "number", "real", "dates", "bytes", "link", "amount", "tree", "leaf",
      "branch", "_0", "codes", "relative", "mantissa", "exponent", "length",
    ]
    let index = Int(byte())
    return index < known.count ? known[index] : text()
  }

  mutating func add(to builder: borrowing PropertyListBuilder) {
    let kind = byte()
    let key = kind & 0x10 == 0 ? key() : nil
    switch kind & 15 {
    case 0: builder.set(.string(text()), for: key)
    case 1: builder.set(.bool(byte() & 1 != 0), for: key)
    case 2: builder.set(.integer(Int64(Int8(bitPattern: byte()))), for: key)
    case 3: builder.set(.integer(Int64(bitPattern: number())), for: key)
    case 4: builder.set(.unsigned(number()), for: key)
    case 5: builder.set(.real(Double(bitPattern: number())), for: key)
    case 6: take().withUnsafeBytes { builder.set(.data($0), for: key) }
    case 7: builder.set(.date(Int64(bitPattern: number())), for: key)
    case 8, 9: builder.beginDictionary(for: key)
    case 10: builder.beginArray(for: key)
    default: builder.end()
    }
  }
}

/// Called by libFuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = Input(bytes: UnsafeBufferPointer(start: start, count: count)[...].map { $0 }[...])
  let builder = PropertyListBuilder()
  while !input.bytes.isEmpty { input.add(to: builder) }
  guard let list = try? builder.finish() else { return 0 }
  // What was decoded can be encoded again, unless it has a date that Foundation cannot count.
  _ = try? UserInfoEncoder.encode(list.userInfo)
  _ = try? decodeArguments(list, of: Request.self)
  _ = try? decodeResponse(list, of: Request.self)
  _ = try? decodeFailure(list, of: Request.self)
  return 0
}
