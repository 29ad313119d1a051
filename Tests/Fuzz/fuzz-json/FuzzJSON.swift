// Reads the JSON of a user info.

internal import DarwinNotify
internal import Foundation
@testable internal import notifyutil

/// Called by libFuzzer. What is accepted is a property list, and any program can read its JSON.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  guard let list = try? UserInfoReader.read(text) else { return 0 }
  guard let json = list.json, (try? UserInfoReader.read(json)) != nil,
    (try? JSONSerialization.jsonObject(with: Data(json.utf8))) is [String: Any],
    (try? JSONSerialization.jsonObject(with: Data(printableJSON(json).utf8))) is [String: Any]
  else { fatalError("accepted: \(text)") }
  return 0
}
