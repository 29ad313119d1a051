// Reads the topic and the payload of a message from another relay.

internal import Foundation
@testable internal import notifyrelay

private let ours = Topics(realm: "home", by: Origin(number: 1))

/// Checks that the meaning of a payload is written exactly as it was read.
private func check(_ fields: Fields, _ body: (Fields) throws -> Data) throws {
  let written = try body(fields)
  let again = try body(try Fields(Data("1 \(fields.serial) ".utf8) + written))
  guard written == again else { fatalError("\(written) is written as \(again)") }
}

private func readRecord(_ fields: Fields) throws -> Data {
  let payload = try RecordPayload(fields)
  for isTooLarge in [false, true] {
    _ = payload.record(from: Origin(number: 2), isTooLarge: isTooLarge)
  }
  return payload.body
}

private func read(_ payload: Data, of subject: Subject) throws {
  let fields = try Fields(payload)
  switch subject {
  case .name: try check(fields) { try NamePayload($0).body }
  case .record: try check(fields, readRecord)
  case .ask: try check(fields) { try AskPayload($0).body }
  case .presence: try check(fields) { try PresencePayload($0).body }
  }
}

/// Called by libFuzzer. The topic is the first line, without the part that all have in common.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 0 else { return 0 }
  let input = Data(UnsafeBufferPointer(start: start, count: count))
  let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? input.endIndex
  let topic = ours.base + String(decoding: input[..<end], as: UTF8.self)
  guard let (subject, origin) = ours.parse(topic) else { return 0 }
  guard Topics(realm: "home", by: origin).topic(of: subject) == topic else {
    fatalError("\(topic) is not the topic of \(subject)")
  }
  try? read(Data(input[end...].dropFirst()), of: subject)
  return 0
}
